#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# hslab_free_rcu(): what readers see, when objects go, what is found of mistakes.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
fresh hslab_provoke
taskset -p 1 $$ >/dev/null	# objects are found again at once

# none_waits CACHE: for a grace period
none_waits()
{
	stat_of "$1" rcu_pending
	[ "$VALUE" -eq 0 ]
}

# settled NAME CACHE
settled()
{
	if within 10000 none_waits "$2"; then
		ok "$1"
	else
		not_ok "$1" "$VALUE objects of $2 wait"
	fi
}

# holds NAME WANT COMMAND...: provoke COMMAND answers WANT (a pattern)
holds()
{
	name=$1 want=$2
	shift 2
	provoke "$@"
	# shellcheck disable=SC2254 # a pattern
	case $VALUE in
	$want)	ok "$name" ;;
	*)	not_ok "$name" "expected: $want" "got:      $VALUE" ;;
	esac
}

#
# What readers see, and what is left of it
#
for poison in 0x6b off; do
	[ $poison = off ] && left=kept || left=byte
	set_policy provoke poison=$poison zero=0 verify=full
	holds "poison=$poison: a reader sees content" "content=kept *" reader provoke rcu
	settled "poison=$poison: the object goes" provoke
	holds "poison=$poison: then it is what poison says" "content=$left *" \
		after provoke
done

# Counters
set_policy provoke poison=0x6b
stat_of provoke frees
before=$VALUE
faults
reports=$VALUE
for nr in 1 10 500; do
	holds "$nr objects: a reader sees all" "intact=$nr" rcu provoke $nr
	settled "$nr objects: all go" provoke
	stat_of provoke live
	is "$nr objects: none is live" "$VALUE" 0
done
stat_of provoke frees
is "all count as freed" $((VALUE - before)) 511
faults
is "nothing is reported" "$VALUE" "$reports"

# While they wait they are live, and pending: a reader that lasts 50 ms.
put $PROVOKE/run "rcu provoke 500" &
seen=none
while [ -d /proc/$! ]; do
	stat_of provoke rcu_pending
	if [ "$VALUE" -gt 0 ]; then
		seen=some
	fi
done
wait
is "rcu_pending tells of them" "$seen" some
settled "and of none when they are gone" provoke

#
# SLAB_TYPESAFE_BY_RCU
#
set_policy provoke-rcu poison=0x6b zero=0 poison_typesafe=0
holds "poison_typesafe=0: a reader sees content" "content=kept *" reader provoke-rcu
settled "poison_typesafe=0: a free does not wait" provoke-rcu
holds "poison_typesafe=0: it is kept" "content=kept *" after provoke-rcu
holds "poison_typesafe=0: and when it comes back" "content=kept *" cycle provoke-rcu
set_policy provoke-rcu poison_typesafe=1
holds "poison_typesafe=1: a reader sees content" "content=kept *" reader provoke-rcu
settled "poison_typesafe=1: the object goes" provoke-rcu
holds "poison_typesafe=1: it is filled" "content=byte word=6b6b6b6b6b6b6b6b" \
	after provoke-rcu
set_policy provoke-rcu poison_typesafe=0
holds "poison_typesafe=0 again" "content=kept *" reader provoke-rcu
holds "it is kept again" "content=kept *" after provoke-rcu

#
# Damage
#
# damaged BYTE: a byte of a waiting object's tag; all others go
damaged()
{
	stat_of provoke aside
	aside=$VALUE
	holds "byte $1 of a tag damaged: a reader sees all" "intact=100" \
		rcu provoke 100 $1
	settled "byte $1 of a tag damaged: all go" provoke
	is "byte $1 of a tag damaged: it is told" "$(last_report | sed -E \
		's/object [0-9a-f]+/object/; s/ by [^ ]+ on CPU [0-9]+/ by/
		s/\+0x[0-9a-f/x]+//; s/[0-9]+ of this/N of this/')" \
		"BUG: hslab: bad-tag in cache provoke, object of 200 bytes, offset $((200 + $1))
hslab:   tag overwritten while it waited for a grace period
hslab:   offset $((200 + $1)): $2 (1 byte differs)
hslab:   found by at hslab_rcu_work [hslab]
hslab:   object set aside; N of this kind in the cache"
	stat_of provoke aside
	is "byte $1 of a tag damaged: one object is set aside" $((VALUE - aside)) 1
	stat_of provoke live
	is "byte $1 of a tag damaged: none is live" "$VALUE" 0
}
quietly damaged 0 "!......."
quietly damaged 4 "!..."
quietly damaged 7 "!"

#
# CPUs, caches and modules that go
#
CPU=/sys/devices/system/cpu/cpu1/online
restore()
{
	[ ! -w $CPU ] || put $CPU 1
}
if [ -w $CPU ]; then
	for i in 1 2 3; do
		taskset -p 2 $$ >/dev/null
		provoke rcu provoke 500
		taskset -p 1 $$ >/dev/null
		put $CPU 0
		get $CPU
		is "CPU 1 goes while objects wait, $i" "$VALUE" 0
		settled "CPU 1 goes while objects wait, $i: they go" provoke
		stat_of provoke live
		is "CPU 1 goes while objects wait, $i: none is live" "$VALUE" 0
		put $CPU 1
	done
else
	skip "CPU 1 goes while objects wait" "no $CPU"
fi

log_mark
holds "destroyed at once, a cache waits for its objects" "intact=300" rcu-destroy 300
is "and says nothing" "$(log_since | grep 'hslab:')" ""
provoke rcu provoke 500
provoke rcu provoke-b 500
unload hslab_provoke
is "a module goes while its objects wait" "$?" 0
gone()
{
	unload hslab 2>/dev/null
}
within 10000 gone
is "and hslab goes then" "$?" 0
ktap_end
