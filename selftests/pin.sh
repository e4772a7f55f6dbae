#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Pinned slab pages: after a spray, a free and a shrink, whose are the pages?
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

PAGES=/sys/kernel/debug/hslab_pages
ktap_begin
unload hslab_pages
fresh hslab_pages
taskset -p 1 $$ >/dev/null	# freed pages are the next to be allocated here
restore()
{
	unload hslab_pages
}

# pages WORD...: have hslab_pages do it; its answer is in VALUE, and as variables.
pages()
{
	put $PAGES/run "$*" || {
		not_ok "pages $*" "refused"
		return 1
	}
	get $PAGES/result
	# shellcheck disable=SC2163 # words of the form name=value
	for word in $VALUE; do
		eval "$word"
	done
}

shrink()
{
	put $CACHES/pages/shrink 1 || not_ok "shrink" "refused"
	sleep 0.2	# SLUB frees pages by RCU
	put $CACHES/pages/shrink 1
}

# spray N: allocate and free so many, and shrink; how many pages is in SEEN.
spray()
{
	pages alloc "$1"
	SEEN=$pages
	pages free
	shrink
}

pages=0 kept=0 bytes=0 victims=0 taken=0

#
# What pins are against
#
pages create 200
spray 3000
pages owners
is "without pins no page of $SEEN is kept" $kept 0
pages victim 8000
echo "# $taken of $SEEN pages went to another kmem_cache at once"
[ $taken -gt 0 ] && taken="some"
is "pages go to another kmem_cache" "$taken" some
stat_of pages pinned_pages
is "nothing is pinned" "$VALUE" 0

pages create 200
set_policy pages pin=4096
spray 3000
pages owners
is "with pins all pages are kept" $kept $SEEN
size=$((bytes / kept))
stat_of pages pinned_pages
pinned=$VALUE
case $((pinned - SEEN)) in
0 | 1)	ok "each has a pin" ;;	# one may be pinned that nothing came from
*)	not_ok "each has a pin" "$SEEN pages, $pinned pins" ;;
esac
stat_of pages pinned_bytes
is "their bytes are counted" "$VALUE" $((pinned * size))
pages victim 8000
is "none of them goes to a victim (of $victims)" $taken 0
spray 3000
stat_of pages pinned_pages
[ "$VALUE" -le $((pinned + 1)) ] && VALUE=same
is "the same pages serve again" "$VALUE" same

#
# The cap
#
set_policy pages pin=5
stat_of pages pinned_pages
is "the cap is lowered" "$VALUE" 5
stat_of pages pinned_bytes
is "bytes too" "$VALUE" $((5 * size))
shrink
set_policy pages pin=0
stat_of pages pinned_pages
is "pin=0" "$VALUE" 0
shrink
pages owners
is "no page is kept" $kept 0

pages create 200
set_policy pages pin=7
spray 3000
stat_of pages pinned_pages
is "the cap is held" "$VALUE" 7
pages owners
is "so many pages are kept" $kept 7

#
# Objects that are alone in a page
#
pages create 1048576
set_policy pages pin=100
pages alloc 3
stat_of pages pinned_pages
is "one object a page: no pins" "$VALUE" 0
stat_of pages pins_skipped
is "one object a page: counted" "$VALUE" 3
pages free

for object in 8 64 1000 4096 8192; do
	pages create $object
	set_policy pages pin=10000
	spray 500
	pages owners
	is "objects of $object bytes: all pages are kept" $kept $SEEN
done

#
# Going away
#
stat_of pages pinned_pages
is_not "there are pins" "$VALUE" 0
get $CACHES/pages/store
store=$VALUE
put $CACHES/pages/merge group=pages || not_ok "merge" "refused"
get $CACHES/pages/store
is "a cache with a store of its own takes it along" "$VALUE" "$store"
set_policy pages track=1
gone()
{
	[ ! -d "$SYS/stores/$store" ]
}
succeeds "a store with pins goes when its cache leaves it" within 5000 gone
set_policy pages track=0
spray 500
get $CACHES/pages/store
store=$VALUE
pages destroy
succeeds "and when its cache is destroyed" within 5000 gone

faults
is "nothing was reported" "$VALUE" 0
pages create 200
set_policy pages pin=100
spray 1000
succeeds "unload with pins" unload hslab_pages hslab
ktap_end
