# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# How much slab memory a peer takes, for scripts/slab-memory.
#
# usage: . "${0%/*}/memory.sh", after peer.sh
#
# When PEER_MEMORY is set a test runs its workload alone:
#
#	if [ -n "${PEER_MEMORY-}" ]; then
#		memory_begin MODULE...
#		...
#		memory_end
#	fi
#
# PEER_MEMORY is a policy for merge, never, owner or any, or slub for the same modules
# without hslab. What is counted is in /sys/kernel/slab: all pages of the kmem_caches
# that the peer's objects are in, less those that were there before. A cache that is
# shared with others counts what these take meanwhile, too.
# shellcheck disable=SC2034 # PEER_KIND is for peer_load
SLAB=/sys/kernel/slab MEMORY=/tmp/memory

# memory_begin MODULE...: load them, and look at their slabs from now on
memory_begin()
{
	rm -rf $MEMORY
	mkdir $MEMORY
	echo 3 >/proc/sys/vm/drop_caches
	memory_total
	memory_before=$VALUE
	case $PEER_MEMORY in
	slub)	PEER_KIND=slub ;;
	*)	insmod "$MODULES/hslab.ko" merge="$PEER_MEMORY" || not_ok "load hslab" ;;
	esac
	memory_old=" $(cd $SLAB && echo ./* | sed 's|\./||g') "
	for cache in "$SLAB"/*; do
		[ -L "$cache" ] || memory_of "${cache##*/}"
		echo "$VALUE" >"$MEMORY/${cache##*/}"
	done
	memory_modules=$*
	peer_load "$@"
	: >$MEMORY.on
	memory_watch &
}

# memory_total: kilobytes of slabs in the system, in VALUE
memory_total()
{
	VALUE=$(awk '$1 == "Slab:" { print $2 }' /proc/meminfo)
}

# memory_of KMEM_CACHE: its kilobytes, in VALUE; 0 if it has gone
memory_of()
{
	VALUE=0
	read -r memory_order <"$SLAB/$1/order" &&
		read -r memory_slabs _ <"$SLAB/$1/slabs" &&
		VALUE=$(((memory_slabs << memory_order) * 4))
} 2>/dev/null

# memory_caches: the kmem_caches with the peer's objects; a line "NAME OF-THE-PEER" each
memory_caches()
{
	if [ "$PEER_MEMORY" != slub ]; then
		# shellcheck disable=SC2086 # words
		peer_caches $memory_modules
		for cache in $VALUE; do
			get "$CACHES/$cache/store"
			get "$SYS/stores/$VALUE/kmem_cache"
			echo "$VALUE $cache"
		done
		return
	fi
	for cache in "$SLAB"/*; do
		case $memory_old in
		*" ${cache##*/} "*)
			continue
			;;
		esac
		memory_real=$(readlink "$cache") || memory_real=$cache
		# Whatever is not merged has a name, and a link is to none.
		case ${cache##*/} in
		:*)	;;
		*)	echo "${memory_real##*/} ${cache##*/}" ;;
		esac
	done
}

# memory_watch: until $MEMORY.on is removed; then the peaks are in $MEMORY.peak
memory_watch()
{
	memory_peak=0 memory_peak_total=0 memory_nr=0
	while [ -e $MEMORY.on ]; do
		memory_caches >$MEMORY.caches
		memory_sum=0
		# shellcheck disable=SC2013 # a word a line
		for cache in $(cut -d ' ' -f 1 $MEMORY.caches | sort -u); do
			VALUE=0
			[ ! -e "$MEMORY/$cache" ] || get "$MEMORY/$cache"
			memory_sum=$((memory_sum - VALUE))
			memory_of "$cache"
			memory_sum=$((memory_sum + VALUE))
		done
		if [ $memory_sum -gt $memory_peak ]; then
			memory_peak=$memory_sum
			cp $MEMORY.caches $MEMORY.most
		fi
		memory_total
		memory_sum=$((VALUE - memory_before))
		[ $memory_sum -le $memory_peak_total ] || memory_peak_total=$memory_sum
		memory_nr=$((memory_nr + 1))
		sleep 0.1
	done
	echo "own=$memory_peak system=$memory_peak_total looks=$memory_nr" >$MEMORY.peak
}

# memory_end: print the peaks, and end. The modules are unloaded on the way out.
memory_end()
{
	rm $MEMORY.on
	within 5000 test -e $MEMORY.peak || not_ok "the watcher ends"
	sed 's/^/# in: /' $MEMORY.most
	echo "# memory: $(cat $MEMORY.peak)"
	ktap_end
}
