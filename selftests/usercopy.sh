#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# The kernel's hardened usercopy knows the window of a cache: a process copies to
# and from it, and a copy that leaves it, or reaches hslab's tag, is refused. A
# refusal is a BUG(), and kills the process that copies.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

USERCOPY=/sys/kernel/debug/hslab_usercopy
DEVICE=/dev/hslab_usercopy
IN=/tmp/usercopy.in
OUT=/tmp/usercopy.out
KILLED=139	# by SIGSEGV

ktap_begin
restore()
{
	rm -f $IN $OUT
}

# What is copied in: 300 bytes, none of which is 0xa5.
awk 'BEGIN { for (i = 0; i < 100; i++) printf "%02d.", i }' >$IN

# usercopy WORD...: have hslab_usercopy do it; its answer is in VALUE.
usercopy()
{
	put $USERCOPY/run "$*" || {
		not_ok "usercopy $*" "refused"
		return 1
	}
	get $USERCOPY/result
}

# hold CACHE: an object of it is behind the device; KMEM is its kmem_cache.
hold()
{
	CACHE=$1
	get "$CACHES/$CACHE/store"
	KMEM=hslab:$VALUE:$CACHE
	usercopy hold "$CACHE"
}

# give_back CHANGED FIRST: the object is freed; these of its bytes were changed.
give_back()
{
	usercopy free
	give_back_said=$VALUE
	stat_of "$CACHE" live
	is "$CACHE: freed, no other byte was changed" \
		"$give_back_said live=$VALUE" "changed=$1 first=$2 live=0"
}

# copy_out OFFSET SIZE: one copy_to_user(), into OUT.
copy_out()
{
	(exec dd if=$DEVICE of=$OUT bs="$2" count=1 skip="$1" iflag=skip_bytes) \
		2>/dev/null
}

# copy_in OFFSET SIZE: one copy_from_user(), of the first bytes of IN.
copy_in()
{
	(exec dd if=$IN of=$DEVICE bs="$2" count=1 seek="$1" oflag=seek_bytes \
		conv=notrunc) 2>/dev/null
}

# attempt COMMAND OFFSET SIZE: the status, what came out, and what the kernel had
# to say, in VALUE
attempt()
{
	: >$OUT
	log_mark
	quietly "$@" 2>/dev/null
	attempt_status=$?
	VALUE="status $attempt_status; $(wc -c <$OUT) bytes; $(log_since |
		grep '^usercopy: ')"
}

# allowed WHAT OFFSET SIZE: in both directions, and what went in comes out.
allowed()
{
	attempt copy_in "$2" "$3"
	is "$CACHE: writing $1 is allowed" "$VALUE" "status 0; 0 bytes; "
	attempt copy_out "$2" "$3"
	is "$CACHE: reading $1 is allowed" "$VALUE" "status 0; $3 bytes; "
	is "$CACHE: reading $1 gives what was written" "$(cat $OUT)" \
		"$(head -c "$3" $IN)"
}

# refused WHAT OFFSET SIZE: in both directions.
refused()
{
	where="SLUB object '$KMEM' (offset $2, size $3)!"
	attempt copy_out "$2" "$3"
	is "$CACHE: reading $1 is refused" "$VALUE" "status $KILLED; 0 bytes; \
usercopy: Kernel memory exposure attempt detected from $where"
	attempt copy_in "$2" "$3"
	is "$CACHE: writing $1 is refused" "$VALUE" "status $KILLED; 0 bytes; \
usercopy: Kernel memory overwrite attempt detected to $where"
}

fresh hslab_usercopy
usercopy kernel
if [ "$VALUE" != hardened=1 ]; then
	skip "usercopy" "the kernel has no CONFIG_HARDENED_USERCOPY"
	ktap_end
fi
if grep -qE '(^| )hardened_usercopy=(off|0|n)' /proc/cmdline; then
	skip "usercopy" "hardened_usercopy is off"
	ktap_end
fi

# 200 bytes, the window is 40 to 103
hold usercopy-middle
refused "the byte before the window" 39 1
refused "the byte behind the window" 104 1
refused "the window and the byte before" 39 65
refused "the window and the byte behind" 40 65
refused "the whole object" 0 200
refused "the tag" 200 8
give_back 0 0
hold usercopy-middle
allowed "the window" 40 64
allowed "the first byte of the window" 40 1
allowed "the last byte of the window" 103 1
refused "the byte behind the window" 104 1
give_back 64 40

# the window ends where the tag begins
hold usercopy-end
refused "the byte before the window" 135 1
refused "the window and a byte of the tag" 136 65
refused "the end of the window and the tag" 192 16
refused "the tag" 200 8
give_back 0 0
hold usercopy-end
allowed "the window" 136 64
give_back 64 136

# the window is all of the object, and 3 bytes of padding follow
hold usercopy-odd
refused "the object and a byte of padding" 0 62
refused "the object, padding and tag" 0 72
give_back 0 0
hold usercopy-odd
allowed "the object" 0 61
give_back 61 0

hold usercopy-none
refused "the whole object" 0 200
refused "the first byte" 0 1
refused "the last byte" 199 1
give_back 0 0

# A window keeps caches apart that could share memory otherwise.
set_policy usercopy-middle merge=any
set_policy usercopy-none merge=any
hold usercopy-none
refused "what is a window elsewhere" 40 64
give_back 0 0
hold usercopy-middle
allowed "the window with merge=any" 40 64
give_back 64 40

hold hslab-256
refused "257 bytes" 0 257
refused "the last byte and the tag" 255 9
give_back 0 0
hold hslab-256
allowed "all 256 bytes" 0 256
give_back 256 0

faults
is "hslab has found no fault" "$VALUE" 0
succeeds "the modules can be unloaded" unload hslab_usercopy hslab
ktap_end
