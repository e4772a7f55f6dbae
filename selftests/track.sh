#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Tracking: who allocated and freed, leaks, and objects that were freed around hslab.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

LEAKS=/sys/kernel/debug/hslab_leaks
restore()
{
	if [ -e $LEAKS/run ]; then
		echo home >$LEAKS/run
	fi
	rm -f /tmp/traces
}

ktap_begin
fresh hslab_provoke
FILES=$DBG/caches/provoke

# top FILE: the first line of each group: count and function
top()
{
	awk '/^ *[0-9]+ / { sub(/\+0x.*/, "", $2); print $1, $2 }' "$1"
}

# groups FILE: the same on one line
groups()
{
	top "$1" | tr '\n' ',' | sed 's/,$//'
}

for file in alloc_traces free_traces objects lifetimes; do
	is "untracked: $file says so" "$(cat $FILES/$file)" "not tracked"
done

# Objects from before are not tracked, and go home.
no_faults "toggle with live objects: no report" true
provoke hold provoke 5
set_policy provoke track=1
is "tracked, no objects yet: alloc_traces" "$(groups $FILES/alloc_traces)" "5 not"
is "tracked, no objects yet: free_traces" "$(cat $FILES/free_traces)" "none"
provoke hold provoke:1 3
cat $FILES/alloc_traces >/tmp/traces
is "live objects by who allocated them" "$(groups /tmp/traces)" \
	"3 provoke_hold,5 not"
is "the stack goes on to the system call" "$(grep -cE \
	'^        (hslab_alloc(_bulk)?|provoke_hold|command_run_write|vfs_write)\+0x' \
	/tmp/traces)" 4
is "ages, pid and CPUs" "$(grep -cE \
	" provoke_hold.* \[hslab_provoke\] age=[0-9]+/[0-9]+/[0-9]+ pid=$$ cpus=[0-9,-]+$" \
	/tmp/traces)" 1
is "objects: a line for each" "$(grep -cE \
	"^[0-9a-f]{16} live age=[0-9]+ pid=$$ cpu=[0-9]+ provoke_hold\+" $FILES/objects)" 3
provoke release provoke
is "those from before have gone home" "$(groups $FILES/alloc_traces)" \
	"3 provoke_hold"
sleep 0.3
provoke release provoke:1
is "freed objects by who freed them" "$(groups $FILES/free_traces)" \
	"3 provoke_free_held"
is "none is live" "$(cat $FILES/alloc_traces)" "none"
is "objects: all are free" "$(grep -cE \
	"^[0-9a-f]{16} free age=[0-9]+ pid=$$ cpu=[0-9]+ provoke_free_held\+" $FILES/objects)" 3
is "lifetimes: all in one to two buckets above 0.26 s" "$(awk '
	{ sub(/:/, "", $2) }
	$1 >= 268435456 && $1 < 17179869184 { n += $3; next }
	{ print }
	END { print n }' $FILES/lifetimes)" 3
provoke hold provoke 4
set_policy provoke track=0
is "what was tracked stays so when it is switched off" \
	"$(groups $FILES/alloc_traces)" "4 provoke_hold"
provoke release provoke
untracked()
{
	[ "$(cat $FILES/alloc_traces)" = "not tracked" ]
}
succeeds "and its store goes with the last" within 5000 untracked
stat_of provoke live
is "nothing is live" "$VALUE" 0

# Reports name who allocated and who freed.
set_policy provoke track=1 poison=0x6b verify=full
quietly provoke double-free
last_record()
{
	awk '/^\[/ { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }' \
		$DBG/faults
}
is "a report has both stacks" "$(last_record | awk '
	/^hslab:   allocated by pid [0-9]+ on CPU [0-9]+, [0-9]+\.[0-9]+ s ago:$/ { what = "a" }
	/^hslab:   freed by pid [0-9]+ on CPU [0-9]+, [0-9]+\.[0-9]+ s ago:$/ { what = "f" }
	/^hslab:     provoke_double_free\+0x/ { printf "%s", what }')" af
quietly provoke write-after-free-first
quietly provoke not-freed
is "an object that was given to kfree() was allocated by" "$(last_record | awk '
	/^hslab:   (allocated|freed) by/ { what = $2 }
	/^hslab:     provoke_kfree\+0x/ { printf "%s ", what }')" "allocated "

# A module that leaks objects and goes
fresh hslab_leaks
set_policy leaks track=1
set_policy hslab-64 track=1
echo leak 10 >$LEAKS/run
is "leaks are sorted by number" "$(groups $DBG/caches/leaks/alloc_traces)" \
	"20 leaks_there,10 leaks_here"
# names: the stack of what hslab-64 has
names()
{
	sed -n 's/^        //p' $DBG/caches/hslab-64/alloc_traces
}
before=$(names)
is_not "the module is in the stack" "${before#*\[hslab_leaks\]}" "$before"
get $LEAKS/result
address=$VALUE
log_mark
succeeds "a module with leaked objects unloads" rmmod hslab_leaks
log_since >/tmp/traces
is "the report counts them" "$(grep -c \
	'cache leaks: destroyed with 30 of its objects live' /tmp/traces)" 1
is "and names both places" "$(awk '
	/  [0-9]+ objects? of 120 bytes, allocated by pid [0-9]+ on CPU [0-9]+, [0-9.]+ s ago, at:$/ { n = $2 }
	/^hslab:     leaks_(here|there)\+0x[0-9a-f\/x]+ \[hslab_leaks\]$/ {
		sub(/\+.*/, "", $2)
		print n, $2
	}' /tmp/traces | tr '\n' ',')" "20 leaks_there,10 leaks_here,"
is "what it leaked elsewhere keeps its names" "$(names)" "$before"
is "and its top caller" "$(groups $DBG/caches/hslab-64/alloc_traces)" \
	"10 leaks_kmalloc"
insmod "$MODULES/hslab_provoke.ko"
is "also with another module at its addresses" "$(names)" "$before"
log_mark
succeeds "what was leaked comes home" insmod "$MODULES/hslab_leaks.ko" home=$address
home()
{
	log_since | grep -q 'hslab: cache leaks: the last of its objects came home$'
}
succeeds "and that is told" within 5000 home
stat_of hslab-64 live
is "nothing is live" "$VALUE" 0
faults
is "nothing was reported" "$VALUE" 0

# Functions that are gone once a module is loaded
fresh
put $SYS/defaults/track 1
insmod "$MODULES/hslab_leaks.ko" early=7
is "who allocated in a module's init function" \
	"$(groups $DBG/caches/leaks/alloc_traces)" "7 leaks_early"
insmod "$MODULES/hslab_provoke.ko"
is "also when another module was loaded since" \
	"$(groups $DBG/caches/leaks/alloc_traces)" "7 leaks_early"
is "each frame has its name" "$(grep -c '^ *?' $DBG/caches/leaks/alloc_traces)" 0
echo home >$LEAKS/run

# Stacks that differ in the middle are told apart, met before or not.
fresh hslab_leaks
set_policy leaks track=1
echo wander 4 >$LEAKS/run
is "16 ways to one place: each has its objects" "$(awk '
	/^ *[0-9]+ leaks_here/ { n = $1; path = 0; depth = 0 }
	/^        leaks_left\+/ { path = 2 * path + 1; depth++ }
	/^        leaks_right\+/ { path = 2 * path; depth++ }
	/^$/ {
		# The innermost is the highest bit.
		if (depth != 4 || path != n - 1)
			print "path", path, "depth", depth, "objects", n
		ways++
	}
	END { print ways }' $DBG/caches/leaks/alloc_traces)" 16
echo home >$LEAKS/run

# Objects that were freed around hslab
# around N KEEP TRACK [SIZE]: and what is reported of it
around()
{
	fresh hslab_leaks
	put $SYS/defaults/track $3
	log_mark
	echo "hslab-test: expect-begin" >/dev/kmsg
	echo around $1 $2 ${4-} >$LEAKS/run
	echo "hslab-test: expect-end" >/dev/kmsg
	faults
	is "around $1 $2 $3: each is counted" "$VALUE" $(($1 - $2))
	log_since >/tmp/traces
	is "around $1 $2 $3: nothing else is reported" "$(grep '^BUG: ' /tmp/traces |
		grep -vc '^BUG: hslab: not-freed in cache leaks-around, ')" 0
	is "around $1 $2 $3: what was leaked stays" "$(awk -v FS='[ :]+' '
		/leaks-around: [1-9][0-9]* live, cache destroyed/ { print $3 }' \
		$DBG/stores)" "$([ $2 -eq 0 ] || echo $2)"
	is "around $1 $2 $3: and is told" "$(sed -n \
		's/.*leaks-around: destroyed with \([0-9]*\) of.*/\1/p' /tmp/traces)" \
		"$([ $2 -eq 0 ] || echo $2)"
	echo home >$LEAKS/run
	rmmod hslab_leaks
	succeeds "around $1 $2 $3: hslab can be unloaded" within 5000 rmmod hslab
}
if preempt_rt; then
	skip "around" "PREEMPT_RT does not let it be told who is within a free"
	ktap_end
fi
around 300 0 0
around 1 0 0
around 5 5 0
around 300 20 1
for size in 8 1000 4096 40000; do
	around 30 7 0 $size
done
ktap_end
