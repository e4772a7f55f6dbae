#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# dm: snapshots, whose chunks kcopyd copies: mempools over caches, on loop devices. The front
# pads of bios, by the block layer's bioset_init(), stay SLUB's.
# shellcheck disable=SC2086 # lists
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"

EXCEPTION=dm_exception PENDING=dm_snap_pending_exception
JOB=kcopyd_job IO=io	# of kcopyd and dm-io, in dm-mod
ALL="$EXCEPTION $PENDING dm_uevent $IO $JOB"
SECTORS=32768		# of the origin
CHUNK=8			# sectors that are copied as one
DM=/dev/mapper

# dm_load: the modules, and an origin over a loop device with random bytes in it
dm_load()
{
	peer_load dm-mod dm-bufio dm-snapshot
	dd if=/dev/urandom of=/tmp/origin bs=512 count=$SECTORS 2>/dev/null
	losetup /dev/loop0 /tmp/origin || not_ok "make a loop device"
	dmsetup create base --table "0 $SECTORS linear /dev/loop0 0" || not_ok "make a base"
	dmsetup create origin --table "0 $SECTORS snapshot-origin $DM/base" ||
		not_ok "make an origin"
}

# dm_cow SECTORS: a new loop device that size for what snapshots have to keep
dm_cow()
{
	losetup -d /dev/loop1 2>/dev/null
	rm -f /tmp/cow
	dd if=/dev/zero of=/tmp/cow bs=512 count=0 seek="$1" 2>/dev/null
	losetup /dev/loop1 /tmp/cow || not_ok "make a loop device"
}

# dm_snap P|N: make a snapshot of the origin; what it keeps is persistent or not
dm_snap()
{
	dmsetup create snap --table "0 $SECTORS snapshot $DM/base /dev/loop1 $1 $CHUNK"
}

# dm_write DEVICE FIRST N: write to N of its chunks, and skip every other: what is kept of
# two that lie side by side is one object
dm_write()
{
	for chunk in $(seq 0 $(($3 - 1))); do
		dd if=/dev/urandom of=$DM/"$1" bs=$((512 * CHUNK)) count=1 conv=notrunc \
			seek=$(($2 + 2 * chunk)) || return
	done 2>/dev/null
	blockdev --flushbufs $DM/"$1"
}

# sum DEVICE: of its content, in VALUE
sum()
{
	blockdev --flushbufs $DM/"$1"
	VALUE=$(sha256sum <$DM/"$1")
}

# same WHAT DEVICE SUM, differs WHAT DEVICE SUM
same()
{
	sum "$2"
	is "$1" "$VALUE" "$3"
}

differs()
{
	sum "$2"
	is_not "$1" "$VALUE" "$3"
}

# live CACHE N
live()
{
	stat_of "$1" live
	[ "$VALUE" -eq "$2" ]
}

# copies: are chunks being copied now? The pool keeps its 256 for bad times.
copies()
{
	stat_of $PENDING live
	[ "$VALUE" -gt 256 ]
}

# status: of the snapshot, without its place
status()
{
	dmsetup status snap | cut -d ' ' -f 3-
}

# merged: has all that was kept gone back? Then only metadata is in use.
merged()
{
	dmsetup status origin | awk '{ split($4, used, "/"); exit used[1] != $5 }'
}

# kept KIND STORE METADATA: 64 chunks of the origin are written to, and the snapshot has
# the old ones
kept()
{
	dm_cow $SECTORS
	sum origin
	old=$VALUE
	succeeds "$1: make a snapshot" dm_snap "$2"
	same "$1: it has the origin's content" snap "$old"
	live $EXCEPTION 0 || not_ok "$1: no chunk is kept yet" "$VALUE"
	dm_write origin 1 64 || not_ok "write to the origin"
	differs "$1: the origin has changed" origin "$old"
	same "$1: the snapshot has not" snap "$old"
	succeeds "$1: 64 exceptions" within 2000 live $EXCEPTION 64
	succeeds "$1: a mempool of 256 pending ones" within 2000 live $PENDING 256
	is "$1: what is kept" "$(status)" "snapshot $((64 * CHUNK + $3))/$SECTORS $3"
}

# dm_remove: all devices
dm_remove()
{
	dmsetup remove origin
	dmsetup remove base
	losetup -d /dev/loop0
	losetup -d /dev/loop1
}

# leaks: what the log says of what was left, in VALUE
leaks()
{
	VALUE=$(log_since | awk '
		/destroyed with/ { sum = "cache " $3 " " $6 " live" }
		/allocated by/ { sum = sum ", " $2 " objects of " $5 " bytes" }
		/hslab:     / && !/hslab_alloc/ && !by { by = $2; sub(/[+.].*/, "", by) }
		END { print sum " by " by }')
	[ -n "${VALUE##* by }" ]
}

ktap_begin
modprobe loop
PLANTED=
peer_hslab paranoid track=1
dm_load
peer_caches dm_mod dm_bufio dm_snapshot
is "its caches are hslab's" "$VALUE" "$ALL"

kept transient N 0
dm_write snap 2 32 || not_ok "write to the snapshot"
differs "a snapshot can be written to" snap "$old"
succeeds "96 exceptions" within 2000 live $EXCEPTION 96
dmsetup remove snap
succeeds "they go with it" within 2000 live $EXCEPTION 0
succeeds "and the mempool" within 2000 live $PENDING 0

kept persistent P 16
was=$(status)
dmsetup remove snap
succeeds "it is removed" within 2000 live $EXCEPTION 0
succeeds "it is read back" dm_snap P
same "it has the old content" snap "$old"
is "it is as it was" "$(status)" "$was"

# It goes back to the origin.
dmsetup remove snap
dmsetup suspend origin
dmsetup load origin --table "0 $SECTORS snapshot-merge $DM/base /dev/loop1 P $CHUNK"
dmsetup resume origin
succeeds "it is merged" within 10000 merged
same "the origin has the old content again" origin "$old"
dmsetup load origin --table "0 $SECTORS snapshot-origin $DM/base"
dmsetup suspend origin
dmsetup resume origin || not_ok "an origin again"

# More is written than there is place for.
dm_cow 512
dm_snap N || not_ok "make a small snapshot"
dm_write origin 1 80
is "a snapshot that has no place any more" "$(status)" "snapshot Invalid"
is "nor any content" "$(cat $DM/snap 2>/dev/null | wc -c)" 0
dmsetup remove snap

# Snapshots come and go while the origin is written to.
dm_cow $SECTORS
for _ in 1 2 3 4 5 6 7 8; do
	dm_snap N || not_ok "make a snapshot while the origin is written to"
	dd if=/dev/urandom of=$DM/origin bs=64k count=$((SECTORS / 128)) conv=fsync \
		2>/dev/null &
	writer=$!
	within 10000 copies || not_ok "chunks are being copied"
	dmsetup remove snap || not_ok "remove a snapshot while the origin is written to"
	wait $writer || not_ok "write to the origin"
done
ok "8 snapshots were removed while chunks were copied"
dm_remove
for cache in $ALL; do
	succeeds "no $cache is left" within 2000 live "$cache" 0
done
peer_count $ALL
peer_unload dm

# The first exception that is pending is freed twice, and those that are done are never.
PLANTED=planted/
peer_hslab paranoid track=1
dm_load
dm_cow $SECTORS
dm_snap N || not_ok "make a snapshot"
quietly dm_write origin 1 16
planted "freed to its mempool twice" $PENDING double-free
planted_by freed free_pending_exception dm_snapshot_hslab
dmsetup remove snap
live $EXCEPTION 16 || not_ok "the snapshot has left 16 exceptions" "$VALUE"
dm_remove
log_mark
for module in $PEER_MODULES; do
	rmmod "$module" || not_ok "unload $module"
done
within 10000 leaks
leaks
is "the leak is told, and whose it is" "$VALUE" \
	"cache $EXCEPTION: 16 live, 16 objects of 32 bytes by alloc_completed_exception"
peer_end
