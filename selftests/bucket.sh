#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Bucket sets: they share no slab page with each other, nor with anything else.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

PAGES=/sys/kernel/debug/hslab_pages
CLASSES="16 32 64 96 128 192 256 512 1024 2048 4096 8192"
ktap_begin
unload hslab_pages
fresh hslab_pages
restore()
{
	unload hslab_pages
}

pages()
{
	put $PAGES/run "$*" || not_ok "pages $*" "refused"
	get $PAGES/result
}

seen=
for class in $CLASSES; do
	[ -d $CACHES/pages-a-$class ] && [ -d $CACHES/pages-b-$class ] &&
		seen="$seen $class"
done
is "each set has its caches" "${seen# }" "$CLASSES"
get $CACHES/pages-a-64/owner
is "they belong to the module" "$VALUE" hslab_pages

for merge in never any group=pages owner; do
	for class in $CLASSES; do
		for set in pages-a pages-b hslab; do
			put $CACHES/$set-$class/merge $merge ||
				not_ok "merge=$merge for $set-$class" "refused"
		done
	done
	pages buckets 1000
	case $VALUE in
	*" shared=0 missing=0")
		ok "merge=$merge: no page is shared" ;;
	*)	not_ok "merge=$merge: no page is shared" "$VALUE" ;;
	esac
done
is "debugfs says why" "$(grep '^pages-b-64: ' $DBG/caches/pages-a-64/merge)" \
	"pages-b-64: bucket sets never share"
is "to others too" "$(grep '^pages-a-64: ' $DBG/caches/hslab-64/merge)" \
	"pages-a-64: bucket sets never share"

pages bucket 0
is "0 bytes" "$VALUE" got=zero-size
for size in 1 16 17 8192; do
	pages bucket $size
	is "$size bytes" "$VALUE" "got=memory zero=1"
done
pages bucket 8193
is "8193 bytes" "$VALUE" got=null

quietly pages bucket-wrong
stat_of pages-b-16 faults_cross_cache_free
is "memory freed to the wrong set is reported" "$VALUE" 1
case $(last_report) in
*pages-a-128*)	ok "with its owner" ;;
*)		not_ok "with its owner" "$(last_report)" ;;
esac
stat_of pages-a-128 live
is "and freed to the right one" "$VALUE" 0

name=1234567890123456789012345678901234567890123456789012345678
pages bucket-name $name
is "a name of 58 characters" "$VALUE" err=0
pages bucket-name ${name}9
is "a name of 59" "$VALUE" err=-22
pages bucket-name a/b
is "a name with /" "$VALUE" err=-22
pages bucket-name hslab
is "a name that is taken" "$VALUE" err=-17
is "nothing is left of them" "$(find $CACHES -maxdepth 1 -name '1*')" ""
succeeds "unload" unload hslab_pages
seen=$(find $CACHES -maxdepth 1 -name 'pages-*')
is "the caches are gone" "$seen" ""
succeeds "unload hslab" unload hslab
ktap_end
