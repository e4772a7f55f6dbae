#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# hslabctl and what hslab is attached to: the commands, and the attach lines of hslab.conf.
# host.sh runs it in the boot of attach, and puts the program there.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attach-lib.sh
. "${0%/*}/attach-lib.sh"

ktap_begin
TMP=/tmp/hslabctl-attach
restore()
{
	rm -f $TMP.*
}

# ctl ARG...: its output, without numbers behind functions' names, and its status, in VALUE
ctl()
{
	VALUE=$({
		hslabctl "$@" 2>&1 </dev/null
		echo "status $?"
	} | sed 's/+0x[0-9a-f]*\/0x[0-9a-f]*//')
}

# refused FILE VALUE WHY LOG: what hslabctl says
refused()
{
	echo "hslabctl: $SYS/$1: '$2' refused: $3
hslabctl: the kernel says: hslab: $4"
}

# of NAME: mode, quarantine_kb, poison, track, on_violation
of()
{
	values $ATTACHED/$1 mode quarantine_kb poison track on_violation
}

if ! command -v hslabctl >/dev/null; then
	skip "hslabctl" "there is no hslabctl here"
	ktap_end
fi
fresh hslab_attached
taskset -p 1 $$ >/dev/null	# what is freed comes to one ring
victim=attached-victim
V=$ATTACHED/$victim

#
# THE COMMANDS
#
ctl attached
is "nothing is attached" "$VALUE" "status 0"
ctl attach attached-victi mode=wipe
is "attach to what is not there" "$VALUE" \
	"$(refused attach attached-victi "No such file or directory" \
		"attach: there is no cache attached-victi; did you mean $victim?")
status 2"
ctl attach $victim mode=wip
is "attach with a wrong mode" "$VALUE" \
	"hslabctl: bad value of mode 'wip', expected count, wipe, poison or quarantine; did you mean 'wipe'?
status 1"
is "nothing is attached still" "$(ls $ATTACHED)" ""
ctl attach $victim mode=quarantine quarantine_kb=64 track=1 on_violation=warn poison=0x6b
is "attach" "$VALUE" "status 0"
is "its policies" "$(of $victim)" "quarantine 64 0x6b 1 warn"
ctl attached
is "attached" "$VALUE" "$victim mode=quarantine object_size=320 aliases=
status 0"
attached cycle victim free 100
ctl attached $victim
is "attached NAME" "$(echo "$VALUE" | grep -e ' mode ' -e ' frees ' -e status)" \
	"  mode                   quarantine
    frees                  100
status 0"
ctl traces $victim
is "traces" "$(echo "$VALUE" | sed -n 's/ age=.*//; s/  */ /; 1,2p; $p')" "free_traces (attached):
 100 attached_run [hslab_attached]
status 0"
ctl attach $victim
is "attach again" "$VALUE" "$(refused attach $victim "File exists" \
	"attach: $victim is attached already, as $victim")
status 2"
ctl attached set $victim mode=count quarantine_kb=8 track=0
is "attached set" "$VALUE: $(of $victim)" "status 0: count 8 0x6b 0 warn"
ctl sweep $victim
is "sweep in mode count" "$VALUE" "$(refused attached/$victim/sweep 1 "Invalid argument" \
	"$victim: sweep needs a mode that fills: wipe, poison or quarantine")
status 2"
ctl attached set $victim mode=wipe
ctl sweep $victim
is "sweep" "$VALUE" "status 0"
ctl detach $victim
is "detach" "$VALUE: $(ls $ATTACHED)" "status 0: "
ctl detach $victim
is "detach again" "$VALUE" "hslabctl: '$victim' is not attached
status 1"

#
# HSLAB.CONF
#
unknown=qqqqqqqqqqqqqqqqqqqq
cat >$TMP.conf <<END
attach $victim mode=quarantine quarantine_kb=8 track=1
attach attached-ctor mode=wipe
attach attached-twin-b mode=poison poison=0x5A
attach attached-twin-a mode=wipe
attach $unknown
hslab-64 pin=3
attach $victim quarantine_kb=64
END
ctl check-config $TMP.conf
is "check-config" "$VALUE" "status 0"
ctl apply --cache hslab-64 $TMP.conf
is "apply --cache attaches to nothing" "$VALUE: $(ls $ATTACHED)" "status 0: "
put $CACHES/hslab-64/pin 0
refusals="$(refused attach attached-ctor "Operation not supported" \
	"attach: not to attached-ctor: it has a constructor, attached_ctor [hslab_attached], whose work must not be wiped")
$(refused attach attached-twin-a "File exists" \
	"attach: attached-twin-a is attached already, as attached-twin-b")
$(refused attach $unknown "No such file or directory" \
	"attach: there is no cache $unknown in /sys/kernel/slab")
status 2"
ctl apply $TMP.conf
is "apply says what is refused" "$VALUE" "$refusals"
is "the rest is attached" "$(ls $ATTACHED)" "attached-twin-b
$victim"
is "with what the last lines say" "$(of $victim)" "quarantine 64 0xa5 1 report"
is "the alias has set nothing" "$(of attached-twin-b)" "poison 256 0x5a 0 report"
get $CACHES/hslab-64/pin
is "hslab-64 has pin=3" "$VALUE" 3
attached cycle victim free 100
held=$(values $V stats/held)
is "something is in quarantine" "$((held > 0))" 1
put $ATTACHED/attached-twin-b/mode wipe
ctl apply $TMP.conf
is "apply again" "$VALUE" "$refusals"
is "the quarantine is not emptied" "$(of $victim) $(values $V stats/held)" \
	"quarantine 64 0xa5 1 report $held"
is "what differs is set" "$(of attached-twin-b)" "poison 256 0x5a 0 report"

ctl save $TMP.saved
is "save" "$VALUE: $(grep '^attach ' $TMP.saved)" "status 0: \
attach attached-twin-b on_violation=report poison=0x5a track=0 quarantine_kb=256 mode=poison
attach $victim on_violation=report poison=0xa5 track=1 quarantine_kb=64 mode=quarantine"
ctl detach $victim
ctl attached set attached-twin-b mode=quarantine poison=0x00 on_violation=kill
ctl attach kmalloc-2k mode=wipe
ctl apply $TMP.saved
is "apply what was saved" "$VALUE" "status 0"
hslabctl save - >$TMP.again
is "all is as it was saved, and what is in no line as it was" \
	"$(diff $TMP.saved $TMP.again | grep '^[-+<>][^-+]')" \
	"+attach kmalloc-2k on_violation=report poison=0xa5 track=0 quarantine_kb=256 mode=wipe"

# Rings of more bytes than this machine has.
echo "attach kmalloc-8 mode=quarantine quarantine_kb=1048576 track=1" >$TMP.conf
ctl apply $TMP.conf
is "apply a mode that is refused" "$VALUE" \
	"hslabctl: $ATTACHED/kmalloc-8/mode: 'quarantine' refused: Cannot allocate memory
status 2"
is "it stays attached, and has the rest" "$(of kmalloc-8)" "count 1048576 0xa5 1 report"
ktap_end
