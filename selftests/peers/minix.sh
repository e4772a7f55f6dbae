#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# minix: inodes with a constructor, charged to a memory cgroup, freed by RCU.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/fs.sh"

ktap_begin
fs_begin 64 mkfs.minix -3

peer_hslab paranoid track=1
peer_load minix
peer_caches minix
is "its cache is hslab's" "$VALUE" minix_inode_cache
fs_mount minix
fs_workload
peer_count minix_inode_cache
fs_umount
succeeds "fsck" fsck.minix -f "$IMAGE"
peer_unload minix

# The last thing it does to an inode is done twice.
PLANTED=planted/
peer_hslab paranoid track=1
peer_load minix
fs_mount minix
fs_touch 8
quietly fs_umount
planted "freed twice" minix_inode_cache double-free
is "the first free is named" "$(last_report | grep -c minix_free_in_core_inode)" 3
peer_end
