#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2086,SC2317 # for eval; no path here has blanks; called by name
# Attach to caches of the kernel's and be detached again, while tasks, files, sockets and
# pipes come and go and memory is short: a few times with the hooks going on and off,
# each eligible cache by itself, now this one and now that for a quarter of HSLAB_TORTURE
# seconds (60), and 40 at once. 200 times in all at least.
#
# Not for QEMU with a thread for each CPU: when tracepoints of kfree() go on and off under
# load 6.12 ends in "Oops: int3" there, without hslab as well. With scripts/vm --single it
# was not seen.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attach-lib.sh
. "${0%/*}/attach-lib.sh"

CPU=/sys/devices/system/cpu/cpu3/online
BUSY=/tmp/attach-tortured
CACHES_WANTED="cred cred_jar dentry kmalloc-64 kmalloc-128 kmalloc-192 kmalloc-256
	kmalloc-512 kmalloc-1k kmalloc-2k kmalloc-4k kmalloc-cg-64 kmalloc-cg-1k
	skbuff_head_cache maple_node vm_area_struct anon_vma_chain pid task_struct
	signal_cache files_cache fs_cache buffer_head inode_cache task_group"

# Until the file is gone, on a CPU of its own.
load_forks()
{
	while [ -e $BUSY ]; do
		i=0
		while [ $i -lt 20 ]; do
			/bin/true
			i=$((i + 1))
		done
		sleep 0.1
	done
}

load_files()
{
	while [ -e $BUSY ]; do
		mkdir -p /tmp/at/a/b
		for name in 1 2 3 4 5 6 7 8 9; do
			echo $name >/tmp/at/a/b/$name
			mv /tmp/at/a/b/$name /tmp/at/a/$name
		done
		find /sys/module >/dev/null
		sleep 0.1
		rm -rf /tmp/at
	done
}

load_pipes()
{
	while [ -e $BUSY ]; do
		dd if=/dev/zero bs=4k count=500 2>/dev/null | cat | cat >/dev/null
		ping -c 3 -i 0.01 -s 1400 127.0.0.1 >/dev/null 2>&1
		echo hello | nc -w 1 127.0.0.1 9 >/dev/null 2>&1
		sleep 0.1
	done
}

# Most of what is free, twice over, so that memory is reclaimed.
load_memory()
{
	while [ -e $BUSY ]; do
		free=$(awk '/^MemAvailable/ { print int($2 / 1024 * 3 / 4) }' /proc/meminfo)
		dd if=/dev/zero of=/tmp/full bs=1M count=$free 2>/dev/null
		echo 2 >/proc/sys/vm/drop_caches
		rm -f /tmp/full
		sleep 2
	done
}

restore()
{
	rm -f $BUSY
	wait
	rm -rf /tmp/at /tmp/full
	[ ! -w $CPU ] || put $CPU 1
}

# random N: 0 to N - 1, in VALUE
SEED=1
random()
{
	SEED=$(((SEED * 1103515245 + 12345) % 2147483648))
	VALUE=$((SEED / 65536 % $1))
}

# a_mode: one of them, in VALUE
a_mode()
{
	random 4
	case $VALUE in
	0)	VALUE=count ;;
	1)	VALUE=wipe ;;
	2)	VALUE=poison ;;
	3)	VALUE=quarantine ;;
	esac
}

# detach NAME
detach()
{
	put $ATTACHED/$1/detach 1 || FAILED="$FAILED detach:$1"
}

# harden NAME: attach, in a mode at random; the status says whether it can be.
harden()
{
	put $ATTACH $1 || return
	a_mode
	put $ATTACHED/$1/mode $VALUE || FAILED="$FAILED mode:$1"
	random 2
	put $ATTACHED/$1/track $VALUE || FAILED="$FAILED track:$1"
}

# attachable: caches that may be attached to, perhaps
attachable()
{
	for cache in /sys/kernel/slab/*; do
		cache=${cache##*/}
		case $cache in
		"$HOLDER" | :* | attached-* | hslab:*)	continue ;;
		esac
		echo $cache
	done
}

# took WHAT: how long it took since the last time
took()
{
	now_ms
	echo "# $1: $(((VALUE - took_before) / 1000)) s"
	took_before=$VALUE
}

# sums FILE...: of stats, over all that is attached, in a line
sums()
{
	sums_all=
	for sums_file; do
		sums=0
		for sums_cache in "$ATTACHED"/*; do
			get $sums_cache/stats/$sums_file
			sums=$((sums + VALUE))
		done
		sums_all="$sums_all${sums_all:+ }$sums"
	done
	echo "$sums_all"
}

ktap_begin
fresh hslab_attached hslab_load
ip link set lo up 2>/dev/null || ifconfig lo up
: >$BUSY
cpu=1
for load in forks files pipes memory; do
	{
		taskset -p $cpu "$(exec sh -c 'echo $PPID')" >/dev/null
		load_$load 2>/dev/null	# no room, for one
	} &
	cpu=$((cpu * 2 % 15))
done
now_ms
took_before=$VALUE
FAILED='' cycles=0
HOLDER=Acpi-Namespace

# Alone: all hooks go on and off
for mode in quarantine poison; do
	put $ATTACH kmalloc-256 || FAILED="$FAILED attach"
	put $ATTACHED/kmalloc-256/mode $mode || FAILED="$FAILED mode"
	detach kmalloc-256
	is "alone, $mode: no hook is left" "$(hooks)" ""
	cycles=$((cycles + 1))
done

took "$cycles times all hooks on and off"

# It keeps the hooks from now on: taking them off waits for all tasks, for seconds.
put $ATTACH $HOLDER || FAILED=$HOLDER
put $ATTACHED/$HOLDER/mode quarantine || FAILED=$HOLDER

# One after another
each=0
for cache in $(attachable); do
	if harden $cache; then
		each=$((each + 1))
		detach $cache
	fi
done
took "$each caches one after another"
is "most caches can be attached to" "$((each > 60))" 1
is "one after another" "$FAILED" ""
cycles=$((cycles + each))

# Now this, now that
names=
for cache in $CACHES_WANTED; do
	[ ! -e /sys/kernel/slab/$cache ] || names="$names $cache"
done
set -- $names
now_ms
end=$((VALUE + ${HSLAB_TORTURE:-60} * 250))
while :; do
	random $#
	eval "cache=\${$((VALUE + 1))}"
	if [ -d $ATTACHED/$cache ]; then
		random 3
		case $VALUE in
		0)	detach $cache
			cycles=$((cycles + 1)) ;;
		1)	a_mode
			put $ATTACHED/$cache/mode $VALUE || FAILED="$FAILED mode:$cache" ;;
		2)	random 100
			put $ATTACHED/$cache/quarantine_kb $((VALUE * 4 + 4)) ||
				FAILED="$FAILED kb:$cache" ;;
		esac
	else
		harden $cache
	fi
	now_ms
	[ $cycles -lt 200 ] || [ "$VALUE" -lt $end ] || break
done
for cache in "$ATTACHED"/*; do
	cache=${cache##*/}
	if [ $cache != $HOLDER ]; then
		detach $cache
		cycles=$((cycles + 1))
	fi
done
took "now this, now that"
echo "# attached and detached $cycles times"
is "attached, changed, detached" "$FAILED" ""
is "all are detached" "$(ls $ATTACHED)" $HOLDER

# 40 at once, in all modes, and the module unloaded from under them
put $LOAD/run "start 1" || not_ok "start the load"
put $ATTACH attached-victim || FAILED="$FAILED victim"
V=$ATTACHED/attached-victim
put $V/mode quarantine || FAILED="$FAILED mode:victim"
many=2
for cache in $(attachable); do
	if [ $many -lt 40 ] && harden $cache; then
		many=$((many + 1))
		[ $((many % 2)) = 0 ] || put $ATTACHED/$cache/mode quarantine ||
			FAILED="$FAILED mode:$cache"
	fi
done
is "40 at once" "$many$FAILED" 40
succeeds "frees are seen" within 60000 eval '[ "$(sums frees)" -gt 1000 ]'
took "40 at once"
echo "# $(sums frees) frees seen, $(sums held) held"
is "none astray, none set aside" "$(sums astray aside)" "0 0"
faults
is "nothing was reported" "$VALUE" 0

# What a CPU held that is gone has to be given back, too.
counts_before attached-victim
taskset -p 8 $$ >/dev/null
attached cycle victim free 2000
taskset -p 7 $$ >/dev/null
is "the victim's frees" "$(counts frees filled)" "2000 2000"
# Memory is short: the shrinker may empty it at any time.
fills()
{
	taskset -p 8 $$ >/dev/null
	attached cycle victim free 2000
	taskset -p 7 $$ >/dev/null
	get $V/stats/held
	held=$VALUE
	[ "$held" != 0 ]
}
succeeds "the victim's quarantine is full" within 60000 fills
if [ -w $CPU ]; then
	succeeds "its CPU goes" put $CPU 0
	is "what that held is there still, or SLUB has it" \
		"$(($(values $V stats/held) <= held))" 1
else
	skip "its CPU goes" "no $CPU"
fi
put $LOAD/run stop
is "the load saw nothing wrong" "$(load_errors)" ""
succeeds "hslab_load unloads" rmmod hslab_load
log_mark
succeeds "hslab unloads with quarantines full" rmmod hslab
is "without a word" "$(said)" ""
is "and nothing is hooked" "$(hooks)" ""
rm -f $BUSY
wait
log_mark
succeeds "no object was left in the victim" attached destroy victim
is "says SLUB" "$(log_since | grep victim)" ""
ktap_end
