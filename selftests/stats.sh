#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Counters are exact, and sizes are those that SLUB has.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
fresh hslab_provoke
taskset -p 1 $$ >/dev/null	# a peak is exact on one CPU

# is_counting NAME CACHE WORD=N...
is_counting()
{
	name=$1 cache=$2 got=
	shift 2
	for word; do
		stat_of "$cache" "${word%%=*}"
		got="$got${got:+ }${word%%=*}=$VALUE"
	done
	is "$name" "$got" "$*"
}

is_counting "a new cache has counted nothing" provoke allocs=0 frees=0 live=0 \
	peak=0 fails=0 zero_skipped=0 verified=0 payload_bytes=0 tag_bytes=0 aside=0

provoke hold provoke 40
is_counting "40 allocations" provoke allocs=40 frees=0 live=40 peak=40 fails=0 \
	payload_bytes=8000 tag_bytes=320
provoke release provoke 15
is_counting "15 of them freed" provoke allocs=40 frees=15 live=25 peak=40 \
	fails=0 payload_bytes=5000 tag_bytes=200
provoke hold provoke 30
is_counting "30 more, a new peak" provoke allocs=70 frees=15 live=55 peak=55 \
	payload_bytes=11000 tag_bytes=440
provoke release provoke
is_counting "all freed" provoke allocs=70 frees=70 live=0 peak=55 \
	payload_bytes=0 tag_bytes=0
provoke hold provoke-odd 3
is_counting "payload is counted as asked for" provoke-odd allocs=3 live=3 \
	payload_bytes=183 tag_bytes=24
provoke release provoke-odd

# A peak above 64 may be low by a 64th a CPU, and there is one CPU here.
provoke hold provoke-b 500
stat_of provoke-b peak
[ "$VALUE" -ge 493 ] && [ "$VALUE" -le 500 ] && VALUE="493..500"
is "a peak of 500 is low by at most a 64th" "$VALUE" "493..500"
provoke release provoke-b
is_counting "500 freed" provoke-b allocs=500 frees=500 live=0

# Objects change stores, and are still counted.
provoke hold provoke-m1 20
provoke hold provoke-m2 5
set_policy provoke-m1 merge=never
provoke hold provoke-m1:1 7
is_counting "in two stores" provoke-m1 allocs=27 frees=0 live=27 peak=27
provoke release provoke-m1
provoke release provoke-m1:1
drained()
{
	get $CACHES/provoke-m1/stores_draining
	[ "$VALUE" = none ]
}
succeeds "the former store drains" within 3000 drained
is_counting "what a former store counted is kept" provoke-m1 allocs=27 frees=27 \
	live=0 peak=27
provoke release provoke-m2

# Allocations fail when each of the 65 objects that they try is damaged.
for how in '' bulk; do
	cache=provoke${how:+-ctor}	# one that has not had many yet
	stat_of $cache allocs
	before=$VALUE
	# shellcheck disable=SC2086 # empty, or a word
	quietly provoke exhaust $cache $how
	# shellcheck disable=SC2086 # words
	set -- $VALUE 0 0 0
	allocs=$((before + ${1#allocs=})) damaged=${2#damaged=} failed=${3#failed=}
	is_not "exhausted${how:+ in bulk}: allocations fail" "$failed" 0
	is_counting "exhausted${how:+ in bulk}: all is counted" $cache \
		allocs=$allocs frees=$allocs live=0 fails="$failed" \
		aside="$damaged" faults_write_after_free="$damaged"
done

# Sizes. With slub_debug SLUB's are larger.
case $(cat /proc/cmdline) in
*slub_debug* | *slab_debug*)
	skip "slot sizes" "slub_debug is on"
	ktap_end
	;;
esac
[ -d /sys/kernel/slab ] || {
	skip "slot sizes" "no /sys/kernel/slab"
	ktap_end
}
got='' want=''
for cache in "$CACHES"/*; do
	get "$cache/store"
	store=$VALUE
	get "$cache/slot_size"
	got="$got ${cache##*/}:$VALUE"
	get "$SYS/stores/$store/slot_size"
	got="$got/$VALUE"
	get "$SYS/stores/$store/kmem_cache"
	get "/sys/kernel/slab/$VALUE/slab_size"
	want="$want ${cache##*/}:$VALUE/$VALUE"
done
is "slot_size is SLUB's slab_size, in caches and stores" "$got" "$want"

got='' want=''
for cache in "$CACHES"/*; do
	get "$cache/object_size"
	got="$got ${cache##*/}:$(((VALUE + 7) / 8 * 8 + 8))"
	get "$cache/store"
	get "$SYS/stores/$VALUE/kmem_cache"
	get "/sys/kernel/slab/$VALUE/object_size"
	want="$want ${cache##*/}:$VALUE"
done
is "SLUB's object is the payload and the tag" "$got" "$want"
ktap_end
