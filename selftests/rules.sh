#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317,SC3037 # no path here has blanks; called by name; busybox has echo -ne
# Rules: what caches start with, by their names.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

RULES=$SYS/rules

# rules [TEXT]: as shown, after TEXT was written, in one piece, as it is for printf
rules()
{
	# shellcheck disable=SC2059 # meant
	[ $# = 0 ] || printf "$1" >$RULES
	cat $RULES
}

ktap_begin
fresh
is "none at first" "$(rules)" ""

#
# A new cache
#
rules 'leaks track=1 poison=0x5a\n' >/dev/null
insmod $MODULES/hslab_leaks.ko early=5
is "the cache starts with it" "$(values $CACHES/leaks track poison verify)" "1 0x5a head"
is "its first objects are tracked" \
	"$(awk '/^ *[0-9]/ { sub(/\+.*/, "", $2); print $1, $2 }' $DBG/caches/leaks/alloc_traces)" \
	"5 leaks_early"
is "its first store is the one of its policy" "$(values $CACHES/leaks stores_draining)" none
rules 'leaks poison=off\n' >/dev/null
is "what is there stays as it is" "$(values $CACHES/leaks poison)" 0x5a
echo home >/sys/kernel/debug/hslab_leaks/run
rmmod hslab_leaks

rules 'provoke profile=paranoid\nprovoke-? profile=debug pin=3;*-b  pin=7\tpin=8\nprovoke-m1 merge=owner pin=5 profile=fast;' >/dev/null
is "shown line by line" "$(rules)" "provoke profile=paranoid
provoke-? profile=debug pin=3
*-b pin=7 pin=8
provoke-m1 merge=owner pin=5 profile=fast"
insmod $MODULES/hslab_provoke.ko
is "a profile" "$(values $CACHES/provoke profile pin)" "paranoid 4096"
is "the last one counts" "$(values $CACHES/provoke-b profile pin poison)" "custom 8 0x6b"
is "a profile takes the place of what comes before" "$(values $CACHES/provoke-m1 profile pin)" \
	"custom 0"
is "the creator may still change it" "$(values $CACHES/provoke-m1 merge verify)" \
	"group=provoke off"
is "others have the defaults" "$(values $CACHES/provoke-odd profile)" balanced

# What the cache does at a violation is one of them.
rules 'provoke-b on_violation=warn\n' >/dev/null
unload hslab_provoke
insmod $MODULES/hslab_provoke.ko
is "on_violation" "$(values $CACHES/provoke-b on_violation)" warn

#
# What is wrong changes nothing
#
LONG=$(printf '%4091s' '' | tr ' ' x)
sleep 5	# the log is spared more than 10 lines in 5 s
# wrong TEXT LOG: is refused, and the log has why
wrong()
{
	log_mark
	result=$({ echo -ne "$1" >$RULES; } 2>&1)
	is "refused: $(printf '%.40s' "$1")" "${result##*: }; $(rules); $(log_since)" \
		"Invalid argument; provoke-b on_violation=warn; hslab: $2"
}
wrong 'a' 'rules: "a" is not NAME POLICY=VALUE...'
wrong 'a track=1\nb\n' 'rules: "b" is not NAME POLICY=VALUE...'
wrong 'a track' 'rules: "track" is no POLICY=VALUE'
wrong 'a track=1 trak=1' 'rules: there is no policy "trak"'
wrong 'track=1; poison=zero' 'rules: "track=1" is not NAME POLICY=VALUE...'
wrong 'a track=2' "rules: track takes 0 or 1"
wrong 'a track=1;b merge=group=' \
	"rules: merge takes never, owner, any or group=NAME (letters, digits, '_', '-', '.', at most 31)"
sleep 5
wrong 'a track=1\n# off' 'rules: "off" is no POLICY=VALUE'
wrong 'a track=1\0b track=1' 'rules: expected text of at most 4094 bytes'
wrong "$LONG a=1\\n" 'rules: expected text of at most 4094 bytes'
# longer than a page: the tail must not come as another text
result=$({ { printf 'a track=1\n%s' "$LONG"; echo ' b=1'; } >/tmp/rules.text
	dd if=/tmp/rules.text of=$RULES bs=8192; } 2>&1 | grep -c 'Invalid argument')
is "refused: more than a page" "$result; $(rules)" "1; provoke-b on_violation=warn"
rm -f /tmp/rules.text
LONG=$(printf '%4082s' '' | tr ' ' x)
is "the longest" "$(rules "$LONG track=1\n" | wc -c)" 4091
is "nothing is left of it" "$(rules '\n')" ""
is "blanks are none" "$(rules ' ;\t\n;\n')" ""
rules 'a zero=1\n' >/dev/null
: >$RULES
is "nothing written changes nothing" "$(rules)" "a zero=1"

#
# The module parameter
#
unload_soon hslab_provoke hslab
log_mark
result=$(insmod $MODULES/hslab.ko 'rules="*2 x=1"' 2>&1)
is "a wrong one does not load" \
	"${result##*: }; $(log_since | grep '^hslab: rules' | uniq)" \
	'Invalid argument; hslab: rules: there is no policy "x"'
result=$(insmod $MODULES/hslab.ko 'rules="*2 track=1"' poison=maybe 2>&1)
is "nor does a good one beside a wrong one" "${result##*: }" "Invalid argument"
insmod $MODULES/hslab.ko 'rules="provoke track=1; provoke-? poison=0x77"'
is "a good one is shown" "$(rules)" "provoke track=1
provoke-? poison=0x77"
insmod $MODULES/hslab_provoke.ko
is "and holds" "$(values $CACHES/provoke track) $(values $CACHES/provoke-b poison)" "1 0x77"
ktap_end
