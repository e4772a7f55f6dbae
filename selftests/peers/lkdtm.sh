#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# lkdtm: drivers/misc/lkdtm, which commits the errors that the kernel should catch; here
# those of the heap, with its kmalloc() redirected as well. Each is told by its kind,
# cache and offset; the task survives it under on_violation=report, and is killed under
# kill; and the caches go on.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"

DIRECT=/sys/kernel/debug/provoke-crash/DIRECT
KILL=137 SEGV=139	# a task's status when a signal has ended it
OVERFLOWN=hslab-1024	# what kmalloc(1020) and, as it has to be aligned, kmalloc(1024)
CACHE_1K=hslab-kmalloc-1024	# are of

# crash CASE: in a process of its own, that stays on its CPU; its status is in STATUS
crash()
{
	log_mark
	quietly taskset 1 sh -c "echo $1 >$DIRECT" 2>/dev/null
	STATUS=$?
}

# said: what lkdtm has to say of the last case, but for addresses and the first line
said()
{
	log_since | sed -n '/Performing direct entry/d
		s/\(0x\)\{0,1\}[0-9a-f]\{16\}/ADDRESS/g; s/^lkdtm: //p'
}

# reports: what was reported since log_mark, one line each without pointers
reports()
{
	log_since | sed -n 's/^BUG: hslab: //; T; s/object [0-9a-f]* of/object of/p'
}

# lives: live objects of the caches, "CACHE=N" each
lives()
{
	lives_all=
	for cache; do
		stat_of "$cache" live
		lives_all="$lives_all$cache=$VALUE "
	done
	VALUE=${lives_all% }
}

# caught CASE STATUS REPORT [MORE]: it is reported so, once, and with the line MORE
caught()
{
	faults
	caught_before=$VALUE
	crash "$1"
	is "$1: the report" "$(reports)" "$3"
	if [ $# -gt 3 ]; then
		is "$1: and more of it" "$(last_report | sed -n 2p)" "hslab:   $4"
	fi
	faults
	is "$1: status of the task, new faults" "$STATUS $((VALUE - caught_before))" \
		"$2 1"
}

# clean CASE LINE...: nothing is reported, and the last lines of lkdtm are these
clean()
{
	clean_case=$1
	faults
	clean_before=$VALUE
	crash "$1"
	shift
	clean_said=$(said | tail -n $#)
	is "$clean_case: lkdtm says" "$clean_said" "$(printf '%s\n' "$@")"
	faults
	is "$clean_case: status of the task, new faults" \
		"$STATUS $((VALUE - clean_before))" "0 0"
}

# goes_on WHAT: each cache allocates and frees, what was freed twice is not given
# out twice, and nothing is left
goes_on()
{
	no_faults "$1: 40 more allocations, all sound" again 40
	lives $OVERFLOWN $CACHE_1K hslab-kmalloc-512 lkdtm-heap-double_free
	is "$1: nothing is live" "$VALUE" "$OVERFLOWN=0 $CACHE_1K=0 \
hslab-kmalloc-512=0 lkdtm-heap-double_free=0"
}

# again N: kmalloc(1024) twice, kmalloc(512) twice, N times over
again()
{
	for _ in $(seq "$1"); do
		echo READ_AFTER_FREE >$DIRECT
		echo SLAB_INIT_ON_ALLOC >$DIRECT
	done
}

# act ACTION: on every violation, in all caches and for what is in none
act()
{
	put $SYS/defaults/on_violation "$1" || not_ok "default $1" "refused"
	for cache in "$CACHES"/*; do
		set_policy "${cache##*/}" on_violation="$1"
	done
}

# errors STATUS: all that hslab finds, and which leave nothing behind
errors()
{
	caught SLAB_LINEAR_OVERFLOW "$1" \
		"overflow in cache $OVERFLOWN, object of 1024 bytes, offset 1024"
	caught WRITE_AFTER_FREE "$1" \
		"write-after-free in cache $CACHE_1K, object of 1024 bytes, offset 512" \
		"written after cache $CACHE_1K freed it"
	is "WRITE_AFTER_FREE: it gets another object" "$(said | tail -n 1)" \
		"Hmm, didn't get the same memory range."
	caught SLAB_FREE_DOUBLE "$1" \
		"double-free in cache lkdtm-heap-double_free, object of 64 bytes"
	caught SLAB_FREE_PAGE "$1" "invalid-free in cache (none), object of 0 bytes"
}

# contents BYTE: what was freed reads as this (in hexadecimal), and memory that is
# allocated again has nothing of its last owner's
contents()
{
	clean READ_AFTER_FREE "Value in memory before free: 12345678" \
		"Attempting bad read from freed memory" \
		"Memory correctly poisoned ($1)"
	clean SLAB_INIT_ON_ALLOC \
		"Memory appears initialized (${2:-0}, no earlier values)"
}

# refused CASE CACHE OFFSET DIRECTION: the kernel's hardened usercopy, and not hslab, ends
# the task by a BUG(); that it knows where the object and its window lie is hslab's.
refused()
{
	lives "$2"
	refused_before=${VALUE#*=}
	get "$CACHES/$2/store"
	refused_store=$VALUE
	faults
	refused_faults=$VALUE
	crash "$1"
	is "$1: what the kernel says" "$(log_since | grep '^usercopy: ')" \
		"usercopy: Kernel memory $4 SLUB object 'hslab:$refused_store:$2' (offset $3)!"
	faults
	is "$1: status of the task, faults of hslab" \
		"$STATUS $((VALUE - refused_faults))" "$SEGV 0"
	# What the task had allocated stays live: it had no time to free it.
	lives "$2"
	is "$1: objects that are lost" $((${VALUE#*=} - refused_before)) "$5"
}

# turn: load and unload lkdtm, which frees a string by kfree() that the kernel's
# kasprintf() has allocated
turn()
{
	for _ in $(seq "$1"); do
		insmod "$MODULES/lkdtm_hslab.ko" && rmmod lkdtm_hslab || return
	done
}

ktap_begin
peer_hslab debug
no_faults "kfree() of the kernel's own memory" turn 20

peer_load lkdtm
peer_caches lkdtm
is "its caches are hslab's" "$VALUE" \
	"lkdtm-heap-a lkdtm-heap-b lkdtm-heap-double_free lkdtm-usercopy"
act report
errors 0
contents 6b6b6b6b 6b
goes_on report
act kill
errors $KILL
goes_on kill

act report
set_policy $CACHE_1K poison=zero zero=1
set_policy hslab-kmalloc-512 poison=zero zero=1
contents 0
set_policy $CACHE_1K poison=off zero=1
set_policy hslab-kmalloc-512 poison=off zero=1
crash READ_AFTER_FREE
is "poison=off: READ_AFTER_FREE" "$(said | grep FAIL)" "FAIL: Memory was not poisoned!"
clean SLAB_INIT_ON_ALLOC "Memory appears initialized (0, no earlier values)"
peer_count lkdtm-heap-double_free $OVERFLOWN $CACHE_1K hslab-kmalloc-512
for module in $PEER_MODULES; do
	rmmod "$module" || not_ok "unload $module"
done
succeeds "hslab unloads: nothing leaks" rmmod hslab

# From here on lkdtm loses objects.
PEER_MODULES=
peer_hslab debug
peer_load lkdtm
for task in report:0 kill:$KILL; do
	act "${task%:*}"
	caught SLAB_FREE_CROSS "${task#*:}" \
		"cross-cache-free in cache lkdtm-heap-b, object of 64 bytes" \
		"it belongs to cache lkdtm-heap-a"
done
lives lkdtm-heap-a lkdtm-heap-b
is "it stays its owner's" "$VALUE" "lkdtm-heap-a=2 lkdtm-heap-b=0"
peer_count lkdtm-heap-a lkdtm-heap-b
log_mark
rmmod lkdtm_hslab || not_ok "unload lkdtm_hslab"
is "what it leaves behind is told" \
	"$(log_since | sed -n 's/^hslab: cache \(.*\) of its objects live;.*/\1/p')" \
	"lkdtm-heap-a: destroyed with 2"
rmmod hslab 2>/dev/null
is_not "hslab stays as long as they live" $? 0

# A task that ends in a BUG() keeps debugfs's file in use, and the module, for good.
peer_load lkdtm
PEER_MODULES=
refused USERCOPY_SLAB_SIZE_TO $CACHE_1K "16, size 1024" \
	"exposure attempt detected from" 2
refused USERCOPY_SLAB_SIZE_FROM $CACHE_1K "16, size 1024" \
	"overwrite attempt detected to" 2
refused USERCOPY_SLAB_WHITELIST_TO lkdtm-usercopy "255, size 64" \
	"exposure attempt detected from" 1
refused USERCOPY_SLAB_WHITELIST_FROM lkdtm-usercopy "255, size 64" \
	"overwrite attempt detected to" 1
peer_count lkdtm-usercopy
no_faults "allocations go on, all sound" again 40
ROW_REPORTS=-
peer_end
