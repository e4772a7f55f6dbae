#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Attaching, as far as it needs a boot of its own, with
# slub_debug=Z,attached-twin-a;U,attached-twin-b;F,attached-odd: caches that slub_debug
# looks after, KFENCE in place of an attachment, the seal.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attach-lib.sh
. "${0%/*}/attach-lib.sh"

ktap_begin
fresh hslab_attached
taskset -p 1 $$ >/dev/null
V=$ATTACHED/attached-victim
SLAB=/sys/kernel/slab
INTERVAL=/sys/module/kfence/parameters/sample_interval

#
# SLUB_DEBUG
#
# counted NAME NUMBER: was it, since counts_before?
counted()
{
	[ "$(counts $1)" = "$2" ]
}

if grep -q 'slub_debug=.*attached-odd' /proc/cmdline; then
	for twin in attached-twin-a attached-twin-b; do
		refuses "$twin, under slub_debug" $twin "Operation not supported" \
			"attach: not to $twin: slub_debug looks after it"
	done
	# Under F alone SLUB verifies its lists and adds nothing to objects.
	get $SLAB/attached-odd/sanity_checks
	is "attached-odd is under slub_debug=F" "$VALUE" 1
	succeeds "attach to it" put $ATTACH attached-odd
	log_mark
	for mode in wipe poison quarantine; do
		put $ATTACHED/attached-odd/mode $mode || not_ok "mode $mode"
		counts_before attached-odd
		for how in free bulk kfree rcu; do
			attached cycle odd $how 500
		done
		within 10000 counted frees 2000
		is "slub_debug=F: $mode: frees" "$(counts frees astray aside)" "2000 0 0"
	done
	is_not "slub_debug=F: there is a quarantine" \
		"$(values $ATTACHED/attached-odd stats/held)" 0
	is "SLUB finds its slabs valid" "$(tries $SLAB/attached-odd/validate 1)" ""
	put $ATTACHED/attached-odd/detach 1
	is "slub_debug=F: nothing is reported" \
		"$(log_since | grep -e BUG -e FIX -e '^hslab: ')" \
		"hslab: detached from attached-odd"
else
	skip "caches under slub_debug" "no slub_debug for attached-odd in /proc/cmdline"
fi

#
# READS: KFENCE finds them, if it is to look at one cache alone
#
# kfence_reads: of freed objects of hslab_attached's, that were reported
kfence_reads()
{
	log_since | grep -c '^BUG: KFENCE: use-after-free read in attached_run'
}

if [ -w $INTERVAL ] && [ -w $SLAB/attached-victim/skip_kfence ]; then
	get $INTERVAL
	interval=$VALUE
	for skip in /sys/kernel/slab/*/skip_kfence; do
		put $skip 1
	done
	put $SLAB/attached-victim/skip_kfence 0
	put $INTERVAL 1
	log_mark
	found=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		quietly attached read victim
		case $VALUE in
		kfence=1*)	found=$((found + 1)) ;;
		esac
	done
	is "10 objects are KFENCE's" $found 10
	is "10 reads after free are found" "$(kfence_reads)" 10
	is "and with them who freed the object" "$(log_since |
		grep -A 1 '^freed by task' | grep -c ' attached_run+')" 10

	# Attached, KFENCE's are left to it.
	put $ATTACH attached-victim
	put $V/mode quarantine
	counts_before attached-victim
	log_mark
	quietly attached read victim
	is "attached: KFENCE finds it" "$(kfence_reads)" 1
	is "attached: what is KFENCE's is left to it" "$(counts kfence aside)" "1 0"
	put $V/detach 1
	put $INTERVAL $interval
	for skip in /sys/kernel/slab/*/skip_kfence; do
		put $skip 0
	done
else
	skip "KFENCE" "no $INTERVAL, or no skip_kfence in $SLAB: not in this kernel"
fi

#
# THE SEAL
#
put $ATTACH attached-victim || not_ok "attach"
put $V/mode quarantine
put $V/quarantine_kb 64
put $V/track 1
attached cycle victim free 100
put $SYS/seal 1 || not_ok "seal"
held=$(values $V stats/held)
is_not "there is a quarantine" "$held" 0
# sealed FILE VALUE: it would be looser
sealed()
{
	sealed_before=$(values $V mode quarantine_kb track stats/held)
	log_mark
	is "sealed: no $1=$2" "$(tries $V/$1 $2): $(said)" \
		"Operation not permitted: attached-victim: sealed, no $3"
	is "sealed: no $1=$2: nothing is changed" \
		"$(values $V mode quarantine_kb track stats/held)" "$sealed_before"
}
sealed detach 1 detach
sealed mode count "looser mode"
sealed mode wipe "looser mode"
sealed mode poison "looser mode"
sealed quarantine_kb 63 "smaller quarantine_kb"
sealed track 0 track=0
is "it is attached still" "$(ls $ATTACHED)" attached-victim
succeeds "sealed: a larger quarantine" put $V/quarantine_kb 128
succeeds "sealed: attach to another" put $ATTACH kmalloc-2k
V=$ATTACHED/kmalloc-2k
succeeds "sealed: count to poison" put $V/mode poison
succeeds "sealed: poison to wipe, which is as tight" put $V/mode wipe
is "sealed: and not back to count" "$(tries $V/mode count)" "Operation not permitted"
is "it wipes still" "$(values $V mode)" wipe
log_mark
succeeds "sealed: a cache may be destroyed" attached destroy victim
is "and is said" "$(said)" "detached from attached-victim, which is destroyed"
unload()
{
	:
}
ktap_end
