#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# nilfs2: four caches, of which that of inodes has a constructor; its segment
# constructor, cleaner, checkpoints and snapshots. There is no fsck for it: what it holds
# is compared after each remount instead.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/fs.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/memory.sh"

OURS="nilfs2_btree_path_cache nilfs2_inode_cache nilfs2_segbuf_cache nilfs2_transaction_cache"
DEVICE=/dev/loop0 SNAP=/tmp/snap

# A cleaner that has no rest.
cat >/tmp/cleaner.conf <<'END'
protection_period 0
min_clean_segments 0
max_clean_segments 0
clean_check_interval 1
nsegments_per_clean 8
mc_nsegments_per_clean 8
cleaning_interval 0.1
mc_cleaning_interval 0.1
retry_interval 1
min_reclaimable_blocks 1
mc_min_reclaimable_blocks 1
use_set_suinfo
use_mmap
log_priority info
END

# used: segments that hold something, in VALUE
used()
{
	VALUE=$(lssu $DEVICE | grep -c '^ *[0-9]')
}

# cleaned N: are there not more than so many? The cleaner takes none that is as new as the
# last write of others.
cleaned()
{
	sleep 1
	echo >$MOUNT/now
	sync
	used
	[ "$VALUE" -le "$1" ]
}

# grow: copy and delete; of each copy 26 segments are left, which hold nothing of use
grow()
{
	for _ in 1 2 3; do
		cp -r "$TREE" $MOUNT/more && sync && rm -r $MOUNT/more && sync || return
	done
}

# clean: have the cleaner give back half of them
clean()
{
	used
	before=$VALUE
	CLEANER=$(nilfs_cleanerd -c /tmp/cleaner.conf $DEVICE $MOUNT | sed 's/.*=//')
	succeeds "the cleaner runs" kill -0 "$CLEANER"
	succeeds "it gives back half of the segments" \
		within 30000 cleaned $((before / 2))
	used
	echo "# segments in use: $before, then $VALUE"
	kill "$CLEANER"
	succeeds "the cleaner ends" within 5000 cleaner_gone
}

cleaner_gone()
{
	! kill -0 "$CLEANER" 2>/dev/null
}

# newest: the number of the last checkpoint, in VALUE
newest()
{
	VALUE=$(lscp $DEVICE | awk '$1 ~ /^[0-9]+$/ { n = $1 } END { print n }')
}

# mode N: what checkpoint N is: cp, ss (a snapshot), or nothing
mode()
{
	lscp $DEVICE | awk -v n="$1" '$1 == n { print $4 }'
}

# snapshots: what was deleted is in one, whatever the cleaner does meanwhile
snapshots()
{
	succeeds "make a snapshot" mkcp -s $DEVICE
	newest
	snapshot=$VALUE
	is "it is one" "$(mode "$snapshot")" ss
	succeeds "delete the tree" rm -r $MOUNT/tree
	succeeds "make a checkpoint" mkcp $DEVICE
	newest
	is "it is one" "$(mode "$VALUE")" cp
	succeeds "remove it" rmcp $DEVICE "$VALUE"
	is "it is gone" "$(mode "$VALUE")" ""
	succeeds "copy and delete" grow
	clean
	mkdir -p $SNAP
	succeeds "mount the snapshot" mount -t nilfs2 -o "ro,cp=$snapshot" $DEVICE $SNAP
	fs_same "the tree is in it" $SNAP/tree
	succeeds "unmount it" umount $SNAP
	succeeds "copy the tree from the source" cp -r "$TREE" $MOUNT/tree
	succeeds "make it a checkpoint" chcp cp $DEVICE "$snapshot"
	is "it is one" "$(mode "$snapshot")" cp
	succeeds "remove it" rmcp $DEVICE "$snapshot"
	is "it is gone" "$(mode "$snapshot")" ""
}

# copy_and_scrub: a damaged object is found when its quarantine ends, or by the scrub
copy_and_scrub()
{
	cp -r "$TREE" $MOUNT/more
	put $CACHES/nilfs2_btree_path_cache/scrub 1
	reported 1
}

ktap_begin
if [ -z "${PEER_MEMORY-}" ]; then
	fs_group
fi
fs_image 64 mkfs.nilfs2 -q -B 64

if [ -n "${PEER_MEMORY-}" ]; then
	memory_begin nilfs2
	fs_mount nilfs2
	fs_workload $MOUNT
	snapshots
	fs_umount
	memory_end
fi

peer_hslab paranoid track=1
peer_load nilfs2
peer_caches nilfs2
is "its caches are hslab's" "$VALUE" "$OURS"
fs_mount nilfs2
fs_workload $MOUNT
fs_again
fs_still "after a remount" $MOUNT
snapshots
fs_again
fs_still "after another" $MOUNT
# shellcheck disable=SC2086 # words
peer_count $OURS
fs_umount
peer_unload nilfs2

# A path through a tree is written to after it was freed, once.
PLANTED=planted/
peer_hslab paranoid track=1
peer_load nilfs2
fs_mount nilfs2
succeeds "it is found" quietly copy_and_scrub
planted "a write after free" nilfs2_btree_path_cache write-after-free 77
planted_by allocated nilfs_btree_alloc_path nilfs2_hslab
planted_by freed nilfs_btree_free_path nilfs2_hslab
fs_umount
peer_end
