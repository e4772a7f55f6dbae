#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Freed objects are kept from reuse, up to a bound, and leave in each of the ways
# there are. What is found in them then is for the suites of KUnit.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

CPU=/sys/devices/system/cpu/cpu1/online
P=$CACHES/provoke
BOUND=64

restore()
{
	[ ! -w $CPU ] || put $CPU 1
}

# held: objects in quarantine, in VALUE
held()
{
	stat_of provoke quarantined
}

# fill N: free N objects, a hundred at a time
fill()
{
	left=$1
	while [ "$left" -gt 0 ]; do
		some=$((left > 100 ? 100 : left))
		provoke hold provoke $some
		provoke release provoke $some
		left=$((left - some))
	done
}

ktap_begin
fresh hslab_provoke
held
is "no quarantine without the policy" "$VALUE" 0
fill 100
held
is "nothing is kept without the policy" "$VALUE" 0

set_policy provoke quarantine_kb=$BOUND
get $P/slot_size
slot=$VALUE
room=$((BOUND * 1024 / slot))
taskset -p 1 $$ >/dev/null
fill 100
held
is "what is freed is kept" "$VALUE" 100
stat_of provoke quarantine_bytes
is "and what it takes is told" "$VALUE" $((100 * slot))
stat_of provoke live
is "it is nobody's" "$VALUE" 0
fill $((2 * room))
held
is "no more than the bound is kept" "$VALUE" "$room"
stat_of provoke quarantine_skipped
is "none left for want of memory" "$VALUE" 0

# Ways to make all leave
put $SYS/purge 1
held
is "purge" "$VALUE" 0
fill 100
put $P/shrink 1
held
is "shrink" "$VALUE" 0
fill 100
set_policy provoke quarantine_kb=$((BOUND - 1))
held
is "a lower bound" "$VALUE" 0
fill 100
set_policy provoke quarantine_kb=$BOUND
held
is "a higher bound makes nobody leave" "$VALUE" 100
set_policy provoke quarantine_kb=0
held
is "no bound" "$VALUE" 0
set_policy provoke quarantine_kb=$BOUND
fill 100
set_policy provoke track=1
held
is "another store" "$VALUE" 0
set_policy provoke track=0
fill 100
i=0
while [ $i -lt 50 ]; do
	echo 2 >/proc/sys/vm/drop_caches
	held
	[ "$VALUE" != 0 ] || break
	i=$((i + 1))
done
is "the memory shrinker" "$VALUE" 0
if [ -w $CPU ]; then
	taskset -p 2 $$ >/dev/null
	fill 100
	taskset -p 1 $$ >/dev/null
	fill 50
	held
	both=$VALUE
	put $CPU 0
	held
	is "a CPU that goes takes none along" "$both $VALUE" "150 50"
	put $CPU 1
	held
	is "and has none when it comes back" "$VALUE" 50
else
	skip "a CPU that goes takes none along" "no $CPU"
	skip "and has none when it comes back" "no $CPU"
fi
put $SYS/purge 0 && VALUE=taken || VALUE=refused
is "purge takes 1 only" "$VALUE" refused

# The bound is one of all CPUs together.
set_policy provoke quarantine_kb=0
set_policy provoke quarantine_kb=$BOUND
taskset -p 1 $$ >/dev/null
fill $((2 * room))
held
is "one CPU may have all" "$VALUE" "$room"
faults
is "nothing was reported" "$VALUE" 0
succeeds "the provoker unloads with a full quarantine" rmmod hslab_provoke
succeeds "hslab unloads" rmmod hslab
ktap_end
