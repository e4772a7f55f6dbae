#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# What the policies of a cache do, as seen from outside.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
fresh hslab_provoke
taskset -p 1 $$ >/dev/null	# objects are found again at once

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

DIRT=a5a5a5a5a5a5a5a5

#
# poison: what is in a free object
#
set_policy provoke poison=0x6b
holds "poison=0x6b" "content=byte word=6b6b6b6b6b6b6b6b" peek provoke
set_policy provoke poison=0x01
holds "poison=0x01" "content=byte word=0101010101010101" peek provoke
set_policy provoke poison=off
holds "poison=off" "content=kept word=$DIRT" peek provoke
set_policy provoke poison=zero
holds "poison=zero" "content=zero word=*" peek provoke
set_policy provoke poison=random
set_policy provoke-b poison=random
holds "poison=random: a word repeated" "content=other word=*" peek provoke
one=$VALUE
provoke peek provoke-b
is_not "poison=random: another one in each store" "$VALUE" "$one"
provoke peek provoke
is "poison=random: the same in one store" "$VALUE" "$one"
set_policy provoke-odd poison=0x6b
holds "poison=0x6b, odd size" "content=byte word=6b6b6b6b6b6b6b6b" peek provoke-odd
set_policy provoke-rcu poison=0x6b
holds "SLAB_TYPESAFE_BY_RCU is never poisoned" "content=kept word=$DIRT" \
	peek provoke-rcu

#
# zero: what is in a new object
#
set_policy provoke poison=off zero=1
holds "zero=1" "content=zero *" cycle provoke
set_policy provoke zero=0
holds "zero=0" "content=kept *" cycle provoke
holds "zero=0, hslab_zalloc()" "content=zero *" cycle provoke zero
set_policy provoke zero=auto
provoke kernel
case $VALUE in
*=1)	holds "zero=auto with $VALUE" "content=zero *" cycle provoke ;;
*=0)	holds "zero=auto with $VALUE" "content=kept *" cycle provoke ;;
*)	not_ok "zero=auto" "no init_on_alloc: $VALUE" ;;
esac
set_policy provoke zero=0 poison=0x6b
holds "zero=0, poison=0x6b" "content=byte word=6b6b6b6b6b6b6b6b built=0" cycle provoke
set_policy provoke zero=1
holds "zero=1, poison=0x6b" "content=zero *" cycle provoke
set_policy provoke-odd poison=random zero=1
holds "zero=1, odd size" "content=zero *" cycle provoke-odd
set_policy provoke-odd poison=off zero=0
holds "zero=0, odd size" "content=kept *" cycle provoke-odd
holds "zero=0, odd size, hslab_zalloc()" "content=zero *" cycle provoke-odd zero
for poison in off zero random 0x6b; do
	for verify in off head full; do
		set_policy provoke poison=$poison verify=$verify zero=0
		holds "hslab_zalloc(), poison=$poison verify=$verify" \
			"content=zero *" cycle provoke zero
	done
done
set_policy provoke-rcu zero=1
holds "SLAB_TYPESAFE_BY_RCU is never zeroed" "content=kept *" cycle provoke-rcu
holds "but by hslab_zalloc()" "content=zero *" cycle provoke-rcu zero

# counts NAME ZERO_SKIPPED VERIFIED POLICY=VALUE...: of 50 reallocations
counts()
{
	name=$1 want="zero_skipped $2, verified $3"
	shift 3
	set_policy provoke-b "$@"
	provoke hold provoke-b 500	# leaves none with a former fill
	provoke release provoke-b
	stat_of provoke-b zero_skipped
	skipped=$VALUE
	stat_of provoke-b verified
	verified=$VALUE
	provoke hold provoke-b 50
	provoke release provoke-b
	stat_of provoke-b zero_skipped
	skipped=$((VALUE - skipped))
	stat_of provoke-b verified
	is "$name" "zero_skipped $skipped, verified $((VALUE - verified))" "$want"
}
counts "zeros that were verified are not written again" 50 50 \
	poison=zero zero=1 verify=head
counts "the same with verify=full" 50 50 verify=full
counts "zeros that were not looked at are" 0 0 verify=off
counts "without zero= nothing is skipped" 0 50 zero=0 verify=head
counts "another fill is no zero" 0 50 poison=0x6b zero=1
counts "without a fill nothing is verified" 0 0 poison=off zero=1

#
# verify and check: what is found
#
# finds VERIFY NAME N: how many reports come of it
finds()
{
	set_policy provoke verify="$1"
	faults
	before=$VALUE
	quietly provoke "$2"
	faults
	is "verify=$1: $2" $((VALUE - before)) "$3"
}
set_policy provoke poison=0x6b zero=0
for name in first bit last; do
	finds off write-after-free-$name 0
	finds head write-after-free-$name 1
	finds full write-after-free-$name 1
done
finds off write-after-free-middle 0
finds head write-after-free-middle 0
finds full write-after-free-middle 1
set_policy provoke poison=off
finds full write-after-free-first 0
set_policy provoke poison=0x6b check=0
finds off bad-tag 0
finds off overflow-nul 0
finds full write-after-free-first 1
# Let the object with the damaged tag get a new one, then look again.
provoke hold provoke 300
provoke release provoke
set_policy provoke check=1 verify=head
finds head bad-tag 1
finds head overflow-nul 1

# What an object was filled with is known from its mark, not from the policy.
for poison in zero 0x6b random off 0x01 zero; do
	set_policy provoke poison=$poison
	no_faults "fill of before poison=$poison" provoke hold provoke 200
	no_faults "no damage is seen in them" provoke release provoke
done

#
# Constructors
#
set_policy provoke-ctor poison=off zero=0
holds "a ctor is not run when content was kept" "content=kept * built=0" \
	cycle provoke-ctor
holds "a ctor is run after hslab_zalloc()" "content=built * built=1" \
	cycle provoke-ctor zero
set_policy provoke-ctor zero=1
holds "a ctor is run when zero=1 lost content" "content=built * built=1" \
	cycle provoke-ctor
for poison in 0x6b zero random; do
	set_policy provoke-ctor poison=$poison zero=0
	holds "a ctor is run when poison=$poison lost content" \
		"content=built * built=1" cycle provoke-ctor
done
set_policy provoke-ctor zero=auto poison=off
holds "zero=auto leaves a cache with a ctor alone" "content=kept * built=0" \
	cycle provoke-ctor

#
# merge
#
# store CACHE, draining CACHE: in VALUE
store()
{
	get "$CACHES/$1/store"
}
draining()
{
	get "$CACHES/$1/stores_draining"
}

# refusal CACHE OTHER: what debugfs says of the two, in VALUE
refusal()
{
	VALUE=$(sed -n "s/^$2: //p" "$DBG/caches/$1/merge")
}

gone()
{
	[ ! -e "$SYS/stores/$1" ] && [ ! -e "/sys/kernel/slab/$2" ]
}

# hold_both BANK: objects of two caches in turns
hold_both()
{
	for _ in 1 2 3 4; do
		provoke hold "provoke:$1" 12
		provoke hold "provoke-b:$1" 12
	done
}

# shared A B: pages that have objects of both, in VALUE
shared()
{
	provoke share "$1" "$2"
	VALUE=${VALUE##*shared=}
	[ "$VALUE" = 0 ] || VALUE=some
}

# apart NAME / together NAME: objects held in bank 1 of the two caches
apart()
{
	shared provoke:1 provoke-b:1
	is "$1: no page is shared" "$VALUE" 0
}
together()
{
	shared provoke:1 provoke-b:1
	is "$1: pages are shared" "$VALUE" some
}

# moves NAME MERGE BEFORE: both caches go to MERGE while objects are held
fresh hslab_provoke
store provoke
first=$VALUE
store provoke-b
second=$VALUE
is_not "merge=never: two stores" "$first" "$second"
refusal provoke provoke-b
is "merge=never: debugfs says why not" "$VALUE" "merge policy differs"
hold_both 1
apart "merge=never"

for merge in group=x owner any; do
	fresh hslab_provoke
	hold_both 0
	store provoke-b
	old=$VALUE
	get "$SYS/stores/$old/kmem_cache"
	kmem=$VALUE
	set_policy provoke merge=$merge
	set_policy provoke-b merge=$merge
	store provoke
	first=$VALUE
	store provoke-b
	is "merge=$merge: one store" "$VALUE" "$first"
	draining provoke-b
	is "merge=$merge: the former store drains" "$VALUE" "$old"
	refusal provoke provoke-b
	is "merge=$merge: debugfs says that they share" "$VALUE" shares
	get "$SYS/stores/$first/caches"
	is "merge=$merge: the store names both" "$VALUE" "provoke provoke-b"
	hold_both 1
	together "merge=$merge"
	shared provoke-b:0 provoke:1
	is "merge=$merge: old objects stay where they were" "$VALUE" 0
	no_faults "merge=$merge: old objects go home" provoke release provoke-b
	stat_of provoke-b live
	is "merge=$merge: the new ones are live" "$VALUE" 48
	succeeds "merge=$merge: the former store goes" within 3000 gone "$old" "$kmem"
	draining provoke-b
	is "merge=$merge: nothing drains" "$VALUE" none

	# And back, with the objects of both caches in one store.
	set_policy provoke-b merge=never
	store provoke-b
	is_not "merge=$merge to never: two stores" "$VALUE" "$first"
	draining provoke-b
	is "merge=$merge to never: the shared store drains" "$VALUE" "$first"
	provoke hold provoke-b 60
	shared provoke-b provoke:1
	is "merge=$merge to never: new objects lie apart" "$VALUE" 0
	no_faults "merge=$merge to never: objects go home" provoke release provoke-b:1
	nothing_drains()
	{
		draining provoke-b
		[ "$VALUE" = none ]
	}
	succeeds "merge=$merge to never: nothing drains" within 3000 nothing_drains
	stat_of provoke live
	is "merge=$merge to never: the others' objects stay" "$VALUE" 96
	no_faults "all the rest is freed" provoke release provoke
	no_faults "all the rest is freed too" provoke release provoke:1
	no_faults "and this" provoke release provoke-b
done

# A cache that leaves and comes back finds its store, and its objects.
fresh hslab_provoke
provoke hold provoke-m1 10
store provoke-m1
first=$VALUE
set_policy provoke-m1 merge=never
set_policy provoke-m1 merge=group=provoke
store provoke-m1
is "back in the group: back in the store" "$VALUE" "$first"
no_faults "back in the group: objects go home" provoke release provoke-m1
faults
is "nothing was reported" "$VALUE" 0

# Why not
set_policy provoke merge=any
for cache in provoke-b provoke-odd provoke-rcu provoke-ctor hslab-256; do
	set_policy $cache merge=any
done
# because CACHE REASON
because()
{
	refusal provoke "$1"
	is "provoke and $1: $2" "$VALUE" "$2"
}
because provoke-b "shares"
because provoke-ctor "shares"
because provoke-odd "object size differs"
because provoke-rcu "SLAB_TYPESAFE_BY_RCU never shares"
because hslab-256 "object size differs"
set_policy provoke-b track=1
because provoke-b "one is tracked"
VALUE=$(awk '$1 == "provoke-b" { print $3 }' $DBG/summary)
is "the summary shows the slot of a tracked object" "$VALUE" 264
set_policy provoke track=1
because provoke-b "shares"
set_policy provoke track=0
set_policy provoke-b track=0
because provoke-m1 "merge policy differs"
set_policy provoke merge=group=mine
because provoke-m1 "group differs"
set_policy provoke merge=owner
set_policy hslab-256 merge=owner
because hslab-256 "owner differs"
store provoke-b
first=$VALUE
store provoke-ctor
is "a ctor does not prevent merging" "$VALUE" "$first"
holds "a ctor in a shared store" "content=built * built=1" cycle provoke-ctor
faults
is "nothing was reported, again" "$VALUE" 0
ktap_end
