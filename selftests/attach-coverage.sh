#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Attaching: the frees that hslab sees are those that SLUB counts, exactly. In a boot of
# its own, with slub_debug=F for the caches, slab_nomerge, so that each is one cache, and
# two network cards on one wire (scripts/vm --net).
#
# SLUB's count is from the module hslab_frees. Objects of KFENCE's never get to SLUB. What
# SLUB frees and nobody ever had (unused, on 7.3) is no free that hslab is to see.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attach-lib.sh
. "${0%/*}/attach-lib.sh"

ktap_begin
SLAB=/sys/kernel/slab
FREES=/sys/kernel/debug/hslab_frees
TRACING=/sys/kernel/tracing
WIRE=/tmp/wire

cred=cred
[ -d $SLAB/cred ] || cred=cred_jar
caches="$cred dentry skbuff_head_cache kmalloc-256 maple_node"

peer=
restore()
{
	untraced
	[ -z "$peer" ] || kill $peer 2>/dev/null
	rm -f $WIRE
}

traced()
{
	echo '*free*' >$TRACING/set_ftrace_filter &&
		echo function_graph >$TRACING/current_tracer &&
		echo 'p:hslab_kfree kfree' >>$TRACING/kprobe_events &&
		echo 1 >$TRACING/events/kprobes/hslab_kfree/enable
}

untraced()
{
	echo nop >$TRACING/current_tracer
	echo >$TRACING/set_ftrace_filter
	if [ -d $TRACING/events/kprobes/hslab_kfree ]; then
		echo 0 >$TRACING/events/kprobes/hslab_kfree/enable
		echo '-:hslab_kfree' >>$TRACING/kprobe_events
	fi
}

#
# LOAD: each has to free so many objects at least, some of them in bulk
#
# wire: the second card to another network namespace, whose process is $peer
wire()
{
	[ -d /sys/class/net/eth1 ] || return
	unshare -n sleep 600 &
	peer=$!
	# It may not be there yet.
	within 10000 other true && ip link set eth1 netns $peer &&
		ip address add 10.9.0.1/24 dev eth0 && ip link set eth0 up &&
		other ip address add 10.9.0.2/24 dev eth1 &&
		other ip link set eth1 up && within 10000 ping -q -c 1 -W 1 10.9.0.2 >/dev/null
}

# other COMMAND...: in the other namespace, once there is one
other()
{
	[ "$(readlink /proc/$peer/ns/net)" != "$(readlink /proc/$$/ns/net)" ] &&
		nsenter -t $peer -n "$@"
}

forks()
{
	forks_left=$1
	while [ $forks_left -gt 0 ]; do
		(:)
		forks_left=$((forks_left - 1))
	done
}

# names: that are not there, which tmpfs forgets at once
names()
{
	names_left=$1
	while [ $names_left -gt 0 ]; do
		[ ! -e /tmp/nothing$names_left ] || return
		names_left=$((names_left - 1))
	done
}

# packets: TCP, by way of the wire
packets()
{
	other nc -l -p 9 -e sh -c "cat >$WIRE" &
	packets_listens=$!
	packets_got=none
	within 10000 listens || return
	dd if=/dev/zero bs=64k count=$1 2>/dev/null | nc 10.9.0.2 9
	wait $packets_listens
	packets_got=$(wc -c <$WIRE)
	rm -f $WIRE
	[ "$packets_got" = $((65536 * $1)) ]
}

listens()
{
	other cat /proc/net/tcp /proc/net/tcp6 | grep -q ':0009 0*:0000 0A '
}

load()
{
	forks 100
	names 1000
	packets 64 || not_ok "packets on the wire" "$packets_got bytes came"
	# The first have RCU get pages for arrays, which the others are freed by.
	attached cycle kmalloc-256 rcu 1000
	sleep 0.2
	attached cycle kmalloc-256 rcu 3000
	attached map 2000
}

# at_least CACHE: frees, and of these bulk
at_least()
{
	case $1 in
	dentry)			echo 1000 0 ;;
	skbuff_head_cache)	echo 100 1 ;;
	kmalloc-256)		echo 4000 1 ;;
	maple_node)		echo 200 1 ;;
	*)			echo 100 0 ;;
	esac
}

#
# COUNTS
#
# look CACHE: what is counted now, in FREES_SEEN (by hslab, without KFENCE's), BULK_SEEN,
# FREES_SLUB and UNUSED_SLUB
look()
{
	get $ATTACHED/$1/stats/frees
	look_frees=$VALUE
	get $ATTACHED/$1/stats/kfence
	FREES_SEEN=$((look_frees - VALUE))
	get $ATTACHED/$1/stats/bulk
	BULK_SEEN=$VALUE
	get $FREES/$1
	FREES_SLUB=$VALUE
	get $FREES/$1.unused
	UNUSED_SLUB=$VALUE
}

# quiet CACHE: look until there is nothing new three times; false if it never is quiet
quiet()
{
	quiet_left=500 quiet_same=0 quiet_last=
	while [ $quiet_same -lt 3 ]; do
		look $1
		quiet_now="$FREES_SEEN $BULK_SEEN $FREES_SLUB $UNUSED_SLUB"
		if [ "$quiet_now" = "$quiet_last" ]; then
			quiet_same=$((quiet_same + 1))
		else
			quiet_same=0
		fi
		quiet_last=$quiet_now
		quiet_left=$((quiet_left - 1))
		[ $quiet_left -gt 0 ] || return
	done
}

# compare CACHE: what each has counted since the beginning, in SEEN, BULK, SLUB and
# UNUSED. What is on its way, seen by hslab and not by SLUB yet, gets there.
compare()
{
	compare_before=
	eval "compare_before=\$before_$(echo $1 | tr - _)"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		quiet $1 || return
		read -r SEEN BULK SLUB UNUSED <<-END
			$compare_before
		END
		SEEN=$((FREES_SEEN - SEEN)) BULK=$((BULK_SEEN - BULK))
		SLUB=$((FREES_SLUB - SLUB)) UNUSED=$((UNUSED_SLUB - UNUSED))
		[ $SEEN != $((SLUB - UNUSED)) ] || return 0
		sleep 0.1
	done
	return 1
}

# arrived CACHE: has as much been freed since the beginning as is to be at least? RCU takes
# its time.
arrived()
{
	look $1
	arrived_before=
	eval "arrived_before=\$before_$(echo $1 | tr - _)"
	read -r arrived_least _ <<-END
		$(at_least $1)
	END
	[ $((FREES_SEEN - ${arrived_before%% *})) -ge "$arrived_least" ]
}

# measure: a load, and what both count meanwhile. When it began something may have been on
# its way, too: then what differs does not the next time.
measure()
{
	for _ in 1 2 3; do
		measure_table='' measure_differs=''
		sleep 0.2
		for cache in $caches; do
			quiet $cache
			eval "before_$(echo $cache | tr - _)='$quiet_last'"
		done
		load
		sleep 0.2
		for cache in $caches; do
			within 10000 arrived $cache
			compare $cache || measure_differs=y
			measure_table="$measure_table$cache $SEEN $BULK $SLUB $UNUSED
"
		done
		[ -n "$measure_differs" ] || return 0
	done
}

# covered WHEN
covered()
{
	measure
	echo "# coverage, $1: cache frees bulk slub unused"
	while read -r cache seen bulk slub unused; do
		[ -n "$cache" ] || continue
		echo "# coverage: $cache $seen $bulk $slub $unused"
		is "$1: $cache: SLUB's count" $seen $((slub - unused))
		read -r least least_bulk <<-END
			$(at_least $cache)
		END
		succeeds "$1: $cache: $least or more, $least_bulk in bulk" \
			[ $seen -ge $least -a $bulk -ge $least_bulk ]
	done <<-END
		$measure_table
	END
}

for cache in $caches; do
	get $SLAB/$cache/sanity_checks
	[ "$VALUE" = 1 ] || {
		skip "coverage" "$cache is not under slub_debug=F"
		ktap_end
	}
done
fresh hslab_attached
insmod "$MODULES/hslab_frees.ko" caches="$(echo $caches | tr ' ' ,)" || {
	skip "coverage" "no free_to_partial_list() of SLUB's to be traced"
	ktap_end
}
wire || not_ok "a wire between two cards"
for cache in $caches; do
	put $ATTACH $cache || not_ok "attach to $cache"
done
covered "attached"
succeeds "trace kfree and all frees" traced
covered "traced"
untraced
for cache in $caches; do
	put $ATTACHED/$cache/detach 1 || not_ok "detach from $cache"
done
ktap_end
