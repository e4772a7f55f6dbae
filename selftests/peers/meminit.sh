#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# meminit: lib/test_meminit.c, the kernel's own test of init_on_alloc and __GFP_ZERO, on
# caches of every size, with constructors and with SLAB_TYPESAFE_BY_RCU, its kmalloc()
# redirected as well. It is built with a module_exit, which it lacks, and says in the
# log how it went.
#
# usage: meminit.sh [ARGUMENT], that the kernel was booted with: none, or init_on_alloc=0
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"

# What it does: for each of 10 sizes 6 kinds of cache and a bulk test; 11 orders of
# pages; 20 sizes from kmalloc() and as many from vmalloc().
PAGES=11 KVMALLOC=40 CACHES_TESTED=70 PERSISTENT=10
# Of its kmalloc() 348 are of at most 8192 bytes: two of each of 14 sizes; a copy for 10
# rounds of each of 10 sizes with 3 kinds of SLAB_TYPESAFE_BY_RCU cache; and two
# for each of 10 persistent ones.
SMALL=$((14 * 2 + 10 * 10 * 3 + 10 * 2))

# all N FUNCTION, some N M FUNCTION: what it says when all N pass, or N of M fail
all()
{
	echo "all $1 tests in $2 passed"
}

some()
{
	echo "$3 failed $1 out of $2 times"
}

# meminit KIND: run it; its lines are in VALUE
meminit()
{
	log_mark
	if ! insmod "$MODULES/test_meminit_$1.ko" || ! rmmod "test_meminit_$1"; then
		not_ok "load and unload test_meminit_$1"
	fi
	VALUE=$(log_since | sed -nE "s/^test_meminit_$1: (.* tests.*|.* out of .*)/\1/p")
}

# kmalloc_allocs: of all caches for kmalloc(), in VALUE
kmalloc_allocs()
{
	kmalloc_sum=0
	for cache in "$CACHES"/hslab-*; do
		stat_of "${cache##*/}" allocs
		kmalloc_sum=$((kmalloc_sum + VALUE))
	done
	VALUE=$kmalloc_sum
}

# with POLICY=VALUE...: hslab afresh, all caches so
with()
{
	peer_hslab balanced "$@"
	for cache in "$CACHES"/hslab-*; do
		set_policy "${cache##*/}" "$@"
	done
}

# judge WHAT EXPECTED: what it said, and that nothing but that happened
judge()
{
	is "$1" "$VALUE" "$2"
	kmalloc_allocs
	is "$1: kmalloc() was hslab's" "$VALUE" $SMALL
	ROW_ALLOCS=$((ROW_ALLOCS + VALUE))
	peer_unload "$1"
}

PASSED="$(all $PAGES test_pages)
$(all $KVMALLOC test_kvmalloc)
$(all $CACHES_TESTED test_kmemcache)
$(all $PERSISTENT test_rcu_persistent)
all $((PAGES + KVMALLOC + CACHES_TESTED + PERSISTENT)) tests passed!"

# Nothing wipes what is allocated: caches whose objects nobody asks to be zero fail
# for each size, with any content and in bulk (2 of 7 a size), on SLUB as well.
FAILED="$(some 20 $CACHES_TESTED test_kmemcache)
$(all $PERSISTENT test_rcu_persistent)"

# of_caches: leave in VALUE what it said of caches. Pages and vmalloc() are not hslab's, nor
# kmalloc() from 16384 on; and how many of them fail where nothing wipes is chance: a
# page that the test has not dirtied itself may be zero.
of_caches()
{
	VALUE=$(echo "$VALUE" | grep -e test_kmemcache -e test_rcu_persistent)
}

ktap_begin
ROW_CACHES='test_cache hslab-kmalloc-*'
case ${1-} in
'')
	with poison=zero
	meminit hslab
	judge "poison=zero" "$PASSED"
	with poison=0x6b zero=1 verify=full
	meminit hslab
	judge "poison=0x6b zero=1" "$PASSED"
	;;
init_on_alloc=0)
	meminit slub
	of_caches
	is "SLUB itself, of caches" "$VALUE" "$FAILED"
	for poison in off 0x6b; do
		with poison=$poison zero=0
		meminit hslab
		of_caches
		judge "poison=$poison zero=0: the same tests fail as on SLUB" "$FAILED"
	done
	with poison=off zero=auto
	meminit hslab
	of_caches
	judge "poison=off zero=auto: as on SLUB" "$FAILED"
	with poison=off zero=1
	meminit hslab
	of_caches
	judge "poison=off zero=1: no test of a cache fails" \
		"$(all $CACHES_TESTED test_kmemcache)
$(all $PERSISTENT test_rcu_persistent)"
	;;
esac
peer_end
