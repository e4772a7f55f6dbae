#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317,SC3028 # called by name; no path here has blanks; busybox has RANDOM
# Threads allocate and free in every context while all policies of all caches
# change at random: nothing may be reported, no content may be wrong. Then a
# planted fault must still be found.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

SECONDS_LONG=${HSLAB_SECONDS:-5}	# at least, and until there were 500 toggles

ktap_begin
fresh hslab_load
CACHES_LOADED="load-own load-m1 load-m2 load-odd load-rcu load-ctor load-page"

# pick WORD...: one of them, in VALUE
pick()
{
	shift $((RANDOM % $#))
	VALUE=$1
}

put $LOAD/run "start 8" || not_ok "start the load"
now_ms
end=$((VALUE + SECONDS_LONG * 1000))
toggles=0 refused=0
while now_ms && { [ "$VALUE" -lt $end ] || [ $toggles -lt 500 ]; }; do
	# shellcheck disable=SC2086 # words
	pick $CACHES_LOADED
	cache=$VALUE
	for policy in merge poison zero verify check; do
		case $policy in
		merge)	pick never owner any group=load group=x ;;
		poison)	pick off zero random 0x6b 0x01 ;;
		zero)	pick 0 1 auto ;;
		verify)	pick off head full ;;
		check)	pick 0 1 ;;
		esac
		put "$CACHES/$cache/$policy" "$VALUE" || refused=$((refused + 1))
		toggles=$((toggles + 1))
	done
	pick off fast balanced debug paranoid
	[ $((RANDOM % 20)) -ne 0 ] || put $SYS/profile "$VALUE"
	[ $((RANDOM % 10)) -ne 0 ] || put "$CACHES/$cache/shrink" 1
done
echo "# $toggles toggles"
is "no toggle was refused" $refused 0
faults
is "nothing was reported under load" "$VALUE" 0
put $LOAD/run stop || not_ok "stop the load"
is "no content was wrong" "$(load_errors)" ""
if preempt_rt; then
	skip "hard interrupts took part" "PREEMPT_RT allows no allocation there"
else
	is_not "hard interrupts took part" "$(grep '^hardirqs=' $LOAD/stats)" \
		"hardirqs=0"
fi
faults
is "nothing was reported" "$VALUE" 0

sum=0
for cache in $CACHES_LOADED; do
	stat_of "$cache" live
	sum=$((sum + VALUE))
done
is "nothing is live" $sum 0
drained()
{
	for cache in $CACHES_LOADED; do
		get "$CACHES/$cache/stores_draining"
		[ "$VALUE" = none ] || return
	done
}
succeeds "all former stores have drained" within 3000 drained

# Objects that were freed before, in whatever way, and after the last toggle
for cache in $CACHES_LOADED; do
	set_policy "$cache" profile=balanced
	faults
	before=$VALUE
	quietly put $LOAD/run "plant $cache"
	stat_of "$cache" faults_write_after_free
	found=$VALUE
	faults
	[ "$cache" = load-rcu ] && want="0 of 0" || want="1 of 1"
	is "a planted fault in $cache is found ($want)" \
		"$found of $((VALUE - before))" "$want"
done
ktap_end
