#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# minix: inodes with a constructor, charged to a memory cgroup, freed by RCU.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/fs.sh"

CACHE=minix_inode_cache

check()
{
	fsck.minix -f $IMAGE >/tmp/fsck.log 2>&1 || {
		cat /tmp/fsck.log
		return 1
	}
}

# come_and_go: until what is freed by RCU has been reported
come_and_go()
{
	fs_touch $MOUNT 8
	fs_umount
	within 5000 reported 1
}

ktap_begin
fs_group
fs_image 64 mkfs.minix -3

peer_hslab paranoid track=1
peer_load minix
peer_caches minix
is "its cache is hslab's" "$VALUE" $CACHE
fs_mount minix
fs_workload $MOUNT
fs_again
fs_still "after a remount" $MOUNT
fs_charged $CACHE 256
peer_count $CACHE
fs_umount
succeeds "fsck" check
peer_unload minix

# An inode is freed twice, once.
PLANTED=planted/
peer_hslab paranoid track=1
peer_load minix
fs_mount minix
succeeds "it is found" quietly come_and_go
planted "freed twice" $CACHE double-free
planted_by allocated minix_alloc_inode minix_hslab
planted_by freed minix_free_in_core_inode minix_hslab
peer_end
