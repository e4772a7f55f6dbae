# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of file systems share: a file system in a file, and what is done to it.
# The tree that is copied is in TREE, a folder of C files.
#
# usage: . "${0%/*}/fs.sh", after peer.sh

IMAGE=/tmp/image MOUNT=/tmp/mount TREE=${HSLAB_TREE:-/hslab/tree}

# fs_begin MEGABYTES MKFS ARG...: an image with a file system; and a memory cgroup to be in
fs_begin()
{
	mkdir -p $MOUNT /sys/fs/cgroup
	mount -t cgroup2 none /sys/fs/cgroup
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir /sys/fs/cgroup/peer
	put /sys/fs/cgroup/peer/cgroup.procs $$ || not_ok "enter a memory cgroup"
	modprobe loop
	fs_size=$1
	shift
	dd if=/dev/zero of=$IMAGE bs=1M count=0 seek="$fs_size" 2>/dev/null
	"$@" $IMAGE >/tmp/mkfs.log 2>&1 || not_ok "$1" "$(cat /tmp/mkfs.log)"
}

# fs_mount TYPE
fs_mount()
{
	FS=$1
	mount -t "$FS" -o loop $IMAGE $MOUNT || not_ok "mount $FS"
}

fs_umount()
{
	umount $MOUNT || not_ok "umount"
}

# fs_sums: checksums of what is in the current folder
fs_sums()
{
	find . -type f | sort | xargs sha256sum
}

# fs_touch N: N files and folders come and go
fs_touch()
{
	for fs_i in $(seq "$1"); do
		mkdir $MOUNT/d"$fs_i" && echo "$fs_i" >$MOUNT/d"$fs_i"/f &&
			rm -r $MOUNT/d"$fs_i"
	done
}

# fs_workload: copy a tree, compare, delete, make links, rename, remount, compare
fs_workload()
{
	(cd "$TREE" && fs_sums) >/tmp/sums
	succeeds "copy a tree of $(wc -l </tmp/sums) files" cp -r "$TREE" $MOUNT/tree
	(cd $MOUNT/tree && fs_sums) >/tmp/sums.copy
	succeeds "it reads back" cmp /tmp/sums /tmp/sums.copy
	succeeds "copy it again" cp -r $MOUNT/tree $MOUNT/second
	succeeds "rename" mv $MOUNT/second $MOUNT/third
	succeeds "delete" rm -r $MOUNT/third
	fs_touch 20
	succeeds "make a link" ln $MOUNT/tree/slab_common.c $MOUNT/link
	succeeds "make a symbolic link" ln -s tree/slab_common.c $MOUNT/symlink
	fs_umount
	echo 3 >/proc/sys/vm/drop_caches
	fs_mount "$FS"
	(cd $MOUNT/tree && fs_sums) >/tmp/sums.copy
	succeeds "it reads back after a remount" cmp /tmp/sums /tmp/sums.copy
	is "links" "$(cat $MOUNT/link $MOUNT/symlink | sha256sum)" \
		"$(cat "$TREE"/slab_common.c "$TREE"/slab_common.c | sha256sum)"
	echo 3 >/proc/sys/vm/drop_caches
}
