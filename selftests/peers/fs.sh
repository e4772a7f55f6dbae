# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of file systems share: a file system in a file, a memory cgroup, and
# what is done to it. The tree that is copied is in TREE, a folder of C files.
#
# usage: . "${0%/*}/fs.sh", after peer.sh

IMAGE=/tmp/image MOUNT=/tmp/mount TREE=${HSLAB_TREE:-${0%/*}/../../tree}
CGROUPS=/sys/fs/cgroup GROUP=/sys/fs/cgroup/peer

# fs_group: from now on the test is in a memory cgroup.
fs_group()
{
	put $CGROUPS/cgroup.subtree_control +memory
	mkdir $GROUP
	put $GROUP/cgroup.procs $$ || not_ok "enter a memory cgroup"
}

# fs_image MEGABYTES MKFS ARG...: an image with a file system
fs_image()
{
	modprobe loop
	mkdir -p $MOUNT
	fs_size=$1
	shift
	rm -f $IMAGE
	dd if=/dev/zero of=$IMAGE bs=1M count=0 seek="$fs_size" 2>/dev/null
	"$@" $IMAGE >/tmp/mkfs.log 2>&1 || not_ok "$1" "$(cat /tmp/mkfs.log)"
}

# fs_mount TYPE [OPTION[,...]]
fs_mount()
{
	FS=$1
	mount -t "$FS" -o "loop${2+,$2}" $IMAGE $MOUNT || not_ok "mount $FS"
}

fs_umount()
{
	umount $MOUNT || not_ok "umount"
}

# fs_sums FOLDER: checksums of what is there
fs_sums()
{
	(cd "$1" && find . -type f | sort | xargs sha256sum)
}

# fs_same NAME FOLDER: is it the tree?
fs_same()
{
	fs_sums "$2" >/tmp/sums.copy
	succeeds "$1" cmp /tmp/sums /tmp/sums.copy
}

# fs_touch FOLDER N: N files and folders come and go there
fs_touch()
{
	for fs_i in $(seq "$2"); do
		mkdir "$1/d$fs_i" && echo "$fs_i" >"$1/d$fs_i/f" &&
			rm -r "$1/d$fs_i" || return
	done
}

# fs_workload FOLDER: copy a tree to there, compare, delete, make links, rename
fs_workload()
{
	fs_sums "$TREE" >/tmp/sums
	is_not "there is a tree to copy" "$(wc -l </tmp/sums)" 0
	succeeds "copy it" cp -r "$TREE" "$1/tree"
	fs_same "it reads back" "$1/tree"
	succeeds "copy it again" cp -r "$1/tree" "$1/second"
	succeeds "rename" mv "$1/second" "$1/third"
	succeeds "delete" rm -r "$1/third"
	succeeds "files and folders come and go" fs_touch "$1" 20
	succeeds "make a link" ln "$1/tree/slab_common.c" "$1/link"
	succeeds "make a symbolic link" ln -s tree/slab_common.c "$1/symlink"
}

# fs_still WHEN FOLDER: it is as fs_workload left it
fs_still()
{
	fs_same "it reads back $1" "$2/tree"
	is "links $1" "$(cat "$2/link" "$2/symlink" | sha256sum)" \
		"$(cat "$TREE/slab_common.c" "$TREE/slab_common.c" | sha256sum)"
}

# fs_again: unmount, forget, mount
fs_again()
{
	fs_umount
	echo 3 >/proc/sys/vm/drop_caches
	fs_mount "$FS"
}

# charged: kilobytes of slabs that the cgroup pays for, in VALUE
charged()
{
	VALUE=$(($(awk '$1 == "slab" { print $2 }' $GROUP/memory.stat) / 1024))
}

# live CACHE N: has it so many?
live()
{
	stat_of "$1" live
	[ "$VALUE" = "$2" ]
}

# reclaimed CACHE N: has it so many, when the cgroup has to give back what it can?
reclaimed()
{
	put $GROUP/memory.reclaim 64M	# all of that is not to be had
	live "$@"
}

# fs_charged CACHE N: the inodes of N files are charged to the cgroup, are on the
# list_lru that it has of its own, and go with its memory; all but the root.
fs_charged()
{
	fs_again
	echo 3 >/proc/sys/vm/drop_caches
	succeeds "one inode is live after a mount" within 5000 live "$1" 1
	charged
	fs_before=$VALUE
	for fs_i in $(seq "$2"); do
		: >"$MOUNT/many$fs_i"
	done
	stat_of "$1" live
	is "$2 files are $2 more" "$VALUE" $(($2 + 1))
	charged
	fs_before=$((VALUE - fs_before))
	get "$CACHES/$1/slot_size"
	VALUE=$((VALUE * $2 / 1024))
	if [ $fs_before -ge $VALUE ]; then
		ok "they are charged to the memory cgroup"
	else
		not_ok "they are charged to the memory cgroup" \
			"expected: $VALUE kB or more" "got:      $fs_before kB"
	fi
	sync
	succeeds "they go when the cgroup has to give memory back" \
		within 10000 reclaimed "$1" 1
	rm $MOUNT/many*
}
