#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Attach to caches of the kernel's, each by itself and then many at once, and be
# detached again in the middle, while tasks, files, sockets and pipes come and go and
# memory is short: for HSLAB_TORTURE seconds at least (30), and 200 times.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ATTACH=$SYS/attach
ATTACHED=$SYS/attached
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

# took WHAT: how long it took since the last time
took()
{
	read -r took_now _ </proc/uptime
	echo "# $1: $((${took_now%.*} - took_before)) s"
	took_before=${took_now%.*}
}

ktap_begin
fresh
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
read -r began _ </proc/uptime
began=${began%.*}
took_before=$began
FAILED=

HOLDER=Acpi-Namespace

# Each time the first comes and the last goes, and so do the hooks
toggles=0
while [ $toggles -lt 3 ]; do
	put $ATTACH $HOLDER || FAILED="$FAILED attach"
	put $ATTACHED/$HOLDER/mode quarantine || FAILED="$FAILED quarantine"
	detach $HOLDER
	toggles=$((toggles + 1))
done
took "$toggles times all hooks on and off"
is "hooks come and go" "$FAILED" ""

# From now on one keeps them, since each time that they change takes seconds
put $ATTACH $HOLDER || FAILED=$HOLDER
put $ATTACHED/$HOLDER/mode quarantine || FAILED=$HOLDER

# One after another
each=0
for cache in /sys/kernel/slab/*; do
	cache=${cache##*/}
	case $cache in
	:* | "$HOLDER")	continue ;;
	esac
	if harden $cache; then
		each=$((each + 1))
		detach $cache
	fi
done
took "$each caches one after another"
is "most caches can be attached to" "$((each > 60))" 1
is "one after another" "$FAILED" ""

# Now this, now that, with up to 25 attached
names=
for cache in $CACHES_WANTED; do
	[ ! -e /sys/kernel/slab/$cache ] || names="$names $cache"
done
set -- $names
times=0
while :; do
	random $#
	eval "cache=\${$((VALUE + 1))}"
	if [ -d $ATTACHED/$cache ]; then
		random 3
		case $VALUE in
		0)	detach $cache ;;
		1)	a_mode
			put $ATTACHED/$cache/mode $VALUE || FAILED="$FAILED mode:$cache" ;;
		2)	random 100
			put $ATTACHED/$cache/quarantine_kb $((VALUE * 4 + 4)) ||
				FAILED="$FAILED kb:$cache" ;;
		esac
	else
		harden $cache
	fi
	times=$((times + 1))
	read -r now _ </proc/uptime
	if [ $times -ge 200 ] && [ $((${now%.*} - began)) -ge "${HSLAB_TORTURE:-30}" ]; then
		break
	fi
done
took "$times changes"
is "attached, changed, detached" "$FAILED" ""
for cache in "$ATTACHED"/[!A]*; do
	[ ! -d $cache ] || detach ${cache##*/}
done
is "all are detached" "$(ls $ATTACHED)" $HOLDER

# Many at once, and the module unloaded from under them
many=0
for cache in /sys/kernel/slab/*; do
	cache=${cache##*/}
	case $cache in
	:*)	continue ;;
	esac
	if [ $many -lt 39 ] && put $ATTACH $cache; then
		many=$((many + 1))
		put $ATTACHED/$cache/mode quarantine || FAILED="$FAILED mode:$cache"
	fi
done
is "40 at once" $((many + 1))"$FAILED" 40
sleep 2
frees=0 astray=0 aside=0
for cache in "$ATTACHED"/*; do
	get $cache/stats/frees
	frees=$((frees + VALUE))
	get $cache/stats/astray
	astray=$((astray + VALUE))
	get $cache/stats/aside
	aside=$((aside + VALUE))
done
echo "# $frees frees seen"
is "frees were seen" "$((frees > 100))" 1
is "none astray, none set aside" "$astray $aside" "0 0"
faults
is "nothing was reported" "$VALUE" 0
succeeds "hslab unloads with quarantines full" rmmod hslab
ktap_end
