#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# 9p over virtio: three modules that use each other's symbols; requests whose cache is
# SLAB_TYPESAFE_BY_RCU, messages in a cache of its own for each mount, with a usercopy
# window; inodes with a constructor. The folder of the host is shared twice, since a
# mount has its channel to itself.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/fs.sh"

LOADED="9pnet 9pnet_virtio 9p"
A=/tmp/a B=/tmp/b STATUS=/tmp/status

# p9_mount TAG FOLDER CACHE: host's tree is in the share
p9_mount()
{
	mkdir -p "$2"
	mount -t 9p -o "trans=virtio,version=9p2000.L,msize=16384,cache=$3" "$1" "$2" ||
		not_ok "mount $1 with cache=$3"
}

p9_umount()
{
	umount "$1" || not_ok "umount $1"
}

mount_and_unmount()
{
	p9_mount a $A none
	p9_umount $A
	reported 1
}

# count FOLDER: how much is in it
count()
{
	find "$1" -mindepth 1 -maxdepth 1 | wc -l
}

# messages: the names of the caches for them, in VALUE, and how many are in NR
messages()
{
	VALUE='' NR=0
	for cache in "$CACHES"/9p-fcall-cache*; do
		[ -d "$cache" ] || continue
		VALUE="$VALUE ${cache##*/}" NR=$((NR + 1))
	done
	VALUE=${VALUE# }
}

# both CACHE CACHE: mount the share twice, and work on both at once
both()
{
	p9_mount a $A "$1"
	p9_mount b $B "$2"
	messages
	is "$1 and $2: each mount has a cache for messages" $NR 2
	echo "# $VALUE"
	get "$CACHES/${VALUE%% *}/flags"
	fs_sums "$TREE" >/tmp/sums
	mkdir $A/one $B/two
	(cp -r "$TREE" $B/two/tree && fs_touch $B/two 20; echo $? >$STATUS) &
	succeeds "$1: copy the tree" cp -r "$TREE" $A/one/tree
	fs_same "$1: it reads back" $A/one/tree
	succeeds "$1: files and folders come and go" fs_touch $A/one 20
	fs_same "$1: the host's own" $A/host
	wait
	is "$2: it was copied meanwhile" "$(cat $STATUS)" 0
	sync
	fs_same "$2: what $1 wrote reads back" $B/one/tree
	fs_same "$1: what $2 wrote reads back" $A/two/tree
}

# alone: one works while the other is unmounted
alone()
{
	(cp -r $B/host $B/two/more && rm -r $B/two/more; echo $? >$STATUS) &
	p9_umount $A
	messages
	is "one mount is left, and its cache" $NR 1
	wait
	is "it worked meanwhile" "$(cat $STATUS)" 0
	rm -r $B/one $B/two || not_ok "delete"
	count_messages
	p9_umount $B
	messages
	is "no mount is left, and no cache" "$NR" 0
}

count_messages()
{
	messages
	# shellcheck disable=SC2086 # words
	peer_count $VALUE
}

ktap_begin
fs_group
modprobe netfs

peer_hslab paranoid track=1
# shellcheck disable=SC2086 # words
peer_load $LOADED
# shellcheck disable=SC2086 # words
peer_caches $LOADED
is "their caches are hslab's" "$VALUE" "p9_req_t v9fs_inode_cache"
get $CACHES/p9_req_t/flags
is "requests are typesafe" "$VALUE" typesafe_by_rcu
stores=$(count $SYS/stores)
for modes in "none loose" "loose mmap" "mmap none"; do
	# shellcheck disable=SC2086 # words
	both $modes
	alone
done
peer_count p9_req_t v9fs_inode_cache
is "no mount leaves a store" "$(count $SYS/stores)" "$stores"
peer_unload 9p

# A byte behind a request is written to before it is freed, once. Nothing of the request
# itself would do: what is SLAB_TYPESAFE_BY_RCU is not poisoned unless told so.
PLANTED=planted/
peer_hslab paranoid track=1
# shellcheck disable=SC2086 # words
peer_load $LOADED
get $CACHES/p9_req_t/object_size
size=$VALUE
succeeds "it is found" quietly mount_and_unmount
planted "a byte behind the end" p9_req_t overflow "$size"
planted_by allocated p9_tag_alloc 9pnet_hslab
peer_end
