#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# hslabctl with a real hslab: each command once. It seals, so this needs a boot of its
# own; host.sh gives it one, and the program.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
TMP=/tmp/hslabctl
restore()
{
	rm -f $TMP.*
}

# ctl ARG...: its output and its status, in VALUE
ctl()
{
	VALUE=$(hslabctl "$@" 2>&1 </dev/null; echo "status $?")
}

# row GREP_ARG...: the lines of the last output that match
row()
{
	echo "$VALUE" | grep "$@"
}

if ! command -v hslabctl >/dev/null; then
	skip "hslabctl" "there is no hslabctl here"
	ktap_end
fi
ctl list
is "no hslab" "$VALUE" "hslabctl: no hslab in /sys/kernel/hslab: is the module loaded?
status 3"
fresh hslab_provoke
ctl list --filter provoke --columns cache,size,profile,live,faults
is "list" "$VALUE" "cache   size profile  live faults
provoke  200 balanced    0      0
status 0"
ctl top -b -n 1 --filter provoke
is "top" "$(row '^provoke ' | tr -s ' ')" "provoke - - 0 0 0 0 0"
ctl set 'provoke-[bo]*' verify=full pin=3
is "set" "$VALUE" "status 0"
get $CACHES/provoke-odd/verify
is "provoke-odd: verify" "$VALUE" full
get $CACHES/provoke-b/pin
is "provoke-b: pin" "$VALUE" 3
ctl show provoke-b
is "show" "$(row '^  pin ')" "  pin                    3"
ctl profile provoke-b debug
get $CACHES/provoke-b/profile
is "profile of a cache" "$VALUE" debug
ctl set provoke track=1
hslabctl list --json >$TMP.a
provoke hold provoke 3
hslabctl list --json >$TMP.b
ctl diff $TMP.a $TMP.b
is "diff" "$(row -e '^provoke live ' -e '^hslabctl')" "provoke live 0 -> 3 (+3)"
ctl traces provoke
is "traces" "$(row ' provoke_hold+' | head -n 1 | awk '{ print $1 }')" 3
ctl stores provoke-b
is "stores of a cache" "$(row '^provoke-m1:')" "provoke-m1: merge policy differs"
ctl stores
is "stores" "$(row '^  provoke-m[12]:')" "  provoke-m1: 0 live
  provoke-m2: 0 live"
quietly provoke double-free
ctl faults
is "faults" "$(row '^BUG' | sed 's/, object.*//')" "BUG: hslab: double-free in cache provoke"
provoke release provoke
ctl save $TMP.conf
is "save" "$VALUE" "status 0"
ctl profile paranoid
get $SYS/profile
is "profile of all" "$VALUE" paranoid
stat_of provoke-b scrubs
before=$VALUE
ctl scrub provoke-b
stat_of provoke-b scrubs
succeeds "scrub" [ "$VALUE" -gt "$before" ]
ctl purge
is "purge" "$VALUE" "status 0"
ctl check-config $TMP.conf
is "check-config" "$VALUE" "status 0"
ctl apply $TMP.conf
is "apply" "$VALUE" "status 0"
ctl save $TMP.again
succeeds "all is as it was saved" cmp $TMP.conf $TMP.again
ctl seal --yes
is "seal" "$VALUE" "status 0"
ctl set provoke check=0
is "what the kernel says of a refusal" "$VALUE" \
	"hslabctl: /sys/kernel/hslab/caches/provoke/check: '0' refused: Operation not permitted
hslabctl: the kernel says: hslab: provoke: sealed, check=1 cannot be loosened
status 2"
unload()
{
	:
}
ktap_end
