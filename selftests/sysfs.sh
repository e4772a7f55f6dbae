#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317,SC3037 # called by name; no path here has blanks; busybox has echo -ne
# The files under /sys/kernel/hslab: what is read, what is taken, what is refused.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
fresh hslab_provoke
P=$CACHES/provoke

# Stores that the modules left while they were loaded are on their way out.
settled()
{
	for file in "$SYS"/stores/*/caches; do
		get "$file"
		[ -n "$VALUE" ] || return
	done
	for file in "$CACHES"/*/stores_draining; do
		get "$file"
		[ "$VALUE" = none ] || return
	done
}
succeeds "nothing drains" within 3000 settled

# What a cache is
# shows CACHE WORD=VALUE...
shows()
{
	cache=$1 got=
	shift
	for word; do
		get "$CACHES/$cache/${word%%=*}"
		got="$got${got:+ }${word%%=*}=$VALUE"
	done
	is "$cache shows what it is" "$got" "$*"
}
shows provoke object_size=200 slot_size=216 align=8 flags=none ctor=none \
	owner=hslab_provoke stores_draining=none
shows provoke-odd object_size=61 slot_size=80
shows provoke-rcu flags=typesafe_by_rcu
shows provoke-ctor "ctor=provoke_ctor [hslab_provoke]"
shows hslab-4096 object_size=4096 slot_size=4112 owner=hslab
get $CACHES/provoke-m1/store
store=$VALUE
get "$SYS/stores/$store/caches"
is "a store names its caches" "$VALUE" "provoke-m1 provoke-m2"
get $P/store
store=$VALUE
get "$SYS/stores/$store/kmem_cache"
is "a store names its kmem_cache" "$VALUE" "hslab:$store:provoke"

# Every file: one line, and the mode that is documented.
succeeds "attach to a cache" put $SYS/attach task_struct
bad='' nr=0
find $SYS -type f >/tmp/files
while read -r file; do
	nr=$((nr + 1))
	case $file in
	*/shrink | */scrub | */purge | */attach | */detach | */sweep | */rules)
		continue
		;;
	esac
	{
		IFS= read -r _ && ! IFS= read -r more && [ -z "$more" ]
	} <"$file" || bad="$bad $file"
done </tmp/files
is "every file holds one line" "$bad" ""
[ $nr -gt 500 ] && nr="more than 500"
is "there are many" "$nr" "more than 500"

bad=$(find $SYS -type f -exec stat -c '%a %n' {} + | awk '
	{
		n = split($2, part, "/")
		mode = 444
		if (part[n] ~ /^(profile|merge|poison|zero|verify|check|on_violation)$/ ||
		    part[n] ~ /^(quarantine_kb|pin|track|scrub_interval_ms|poison_typesafe|seal|mode|rules)$/)
			mode = 644
		if (part[n] ~ /^(shrink|scrub|purge|attach|detach|sweep)$/)
			mode = 200
		if (part[n - 1] == "stats")
			mode = 400
		if ($1 != mode)
			print
	}')
is "every file has its mode" "$bad" ""
rm -f /tmp/files

# refused FILE TEXT ERROR: write TEXT there, as it is for echo -e, in one piece;
# it has to end with ERROR and to change nothing. Sets result and expected.
refused()
{
	get "$1"
	before=$VALUE
	said=$({ echo -ne "$2" >"$1"; } 2>&1)
	get "$1"
	case $said in
	*"$3") said=$3 ;;
	esac
	result="$said; $VALUE"
	expected="$3; $before"
}

# Good values, each of which is read back.
# takes FOLDER POLICY VALUE...
takes()
{
	folder=$1 policy=$2 got=
	shift 2
	for value; do
		if put "$folder/$policy" "$value"; then
			get "$folder/$policy"
			got="$got${got:+ }$VALUE"
		else
			got="$got refused:$value"
		fi
	done
	is "${folder#"$SYS"/}/$policy takes and shows" "$got" "$*"
}

LONG=abcdefghijklmnopqrstuvwxyz_-.09	# 31 characters
for folder in $SYS/defaults $P $CACHES/provoke-rcu; do
	takes "$folder" merge owner any group=a "group=$LONG" group=A.b-c_9 never
	takes "$folder" poison off random 0x01 0xff 0x6b zero
	takes "$folder" zero 0 1 auto
	takes "$folder" verify off full head
	takes "$folder" check 0 1
	takes "$folder" quarantine_kb 1 64 1048576 0
	takes "$folder" pin 1 4096 1048576 0
	takes "$folder" track 1 0
	takes "$folder" scrub_interval_ms 10 60000 86400000 0
	takes "$folder" poison_typesafe 1 0
	takes "$folder" on_violation warn kill panic report
done
takes $P profile off fast debug paranoid balanced
takes $SYS profile off fast debug paranoid balanced

# Two ways to write a value that are read back as the usual one
put $P/poison 0x00
get $P/poison
is "poison 0x00 is zero" "$VALUE" zero
put $P/poison 0xAB
get $P/poison
is "poison 0xAB is 0xab" "$VALUE" 0xab
printf 0x6b >$P/poison
get $P/poison
is "the newline may be missing" "$VALUE" 0x6b
set_policy provoke profile=balanced

# hostile FILE GOOD BAD...: GOOD spoilt in all ways, and the BAD ones, are refused.
BIG=$(printf '%4096s' '' | tr ' ' x)
hostile()
{
	file=$1 good=$2
	shift 2
	bad=
	for value in '' '\n' '\n\n' ' ' '\t\n' '\0' '\0\n' '\0377\0376\n' \
		"$BIG" "$BIG\n" "$good " " $good" "$good\n\n" "\n$good\n" \
		"$good\0" "$good\0\n" "$good\r\n" "$good $good" \
		"$good\n$good\n" "${good}x" "x$good" '%s%n\n' '-1' none \
		"$@"; do
		[ -n "$value" ] || continue	# no write(2) comes of it
		refused "$file" "$value" "Invalid argument"
		[ "$result" = "$expected" ] ||
			bad="$bad [$(printf %.40s "$value"): $result]"
	done
	is "${file#"$SYS"/} refuses bad values" "$bad" ""
}

# What no number is, beside the above; none may end as another number.
NUMBERS='+1 -0 -64 00 01 064 0x40 0b1 1e3 64k 64K 64.0 6_4 6,4 ~0 1048577
	4294967296 4294967360 18446744073709551616 18446744073709551680
	340282366920938463463374607431768211520'
for folder in $SYS/defaults $P; do
	hostile $folder/quarantine_kb 64 $NUMBERS
	hostile $folder/pin 64 $NUMBERS
	hostile $folder/track 1 2 01 00 0x1 true y on +1 11
	hostile $folder/scrub_interval_ms 64 1 9 86400001 ${NUMBERS% 1048577*} \
		4294967296 4294967360 18446744073709551680
	hostile $folder/poison_typesafe 1 2 01 00 0x1 true y on +1 11
	hostile $folder/merge owner 2 Owner OWNER group= group=a/b 'group=a b' \
		"group=x$LONG" group=abcdefghijklmnopqrstuvwxyz0123456789abcd \
		'group=\0303\0244' group group=a=b 'group=a\n\n' own ownerowner
	hostile $folder/poison random 2 Random RANDOM 0x100 0x6 6b 0x 0x6g 107 0X6b \
		0b1 0x+1 0x-1 '0x6\n\n' '0x 6' '0x6 ' 0x06b 0x6b6b
	hostile $folder/zero auto 2 AUTO Auto 01 00 0x1 true y on 1.0
	hostile $folder/verify full 2 FULL Full heads h 1 0
	hostile $folder/check 1 2 01 00 0x1 true y on +1 11
	hostile $folder/on_violation kill 2 KILL Kill oops 0 1
done
hostile $P/profile debug 2 Debug DEBUG custom default 0 1 ''
hostile $SYS/profile debug 2 Debug DEBUG custom default 0 1 ''

# What makes something happen takes 1.
for file in $P/shrink $P/scrub $SYS/purge; do
	bad=
	for value in 0 2 ' 1' '1 ' 1x '1\n\n' '1\0' 01 +1 yes; do
		said=$({ echo -ne "$value" >$file; } 2>&1)
		case $said in
		*"Invalid argument") ;;
		*)	bad="$bad [$value: $said]" ;;
		esac
	done
	is "${file##*/} refuses all but 1" "$bad" ""
	succeeds "${file##*/} takes 1" put $file 1
	said=$(cat $file 2>&1)
	is "${file##*/} cannot be read" "${said##*: }" "Permission denied"
done

# Files that are for reading only
bad=
for file in $SYS/version $SYS/faults $P/object_size $P/slot_size $P/align \
	$P/flags $P/ctor $P/owner $P/store $P/stores_draining "$P"/stats/* \
	"$SYS"/stores/*/caches "$SYS"/stores/*/slot_size "$SYS"/stores/*/kmem_cache; do
	refused "$file" '1\n' "Permission denied"
	[ "$result" = "$expected" ] || bad="$bad [$file: $result]"
done
is "what is for reading cannot be written" "$bad" ""

# Profiles
# profile NAME MERGE POISON ZERO VERIFY CHECK QUARANTINE_KB PIN SCRUB_INTERVAL_MS
profile()
{
	set_policy provoke profile="$1"
	shows provoke profile="$1" merge="$2" poison="$3" zero="$4" verify="$5" \
		check="$6" quarantine_kb="$7" pin="$8" track=0 \
		scrub_interval_ms="$9" poison_typesafe=1 on_violation=warn
}
set_policy provoke on_violation=warn poison_typesafe=1
profile off any off auto off 0 0 0 0
profile fast never off auto off 1 0 0 0
profile debug never 0x6b 0 full 1 0 0 0
profile paranoid never random 1 full 1 256 4096 60000
profile balanced never zero auto head 1 0 0 0
set_policy provoke poison_typesafe=0
get $P/profile
is "poison_typesafe is of no profile" "$VALUE" balanced
for change in merge=any poison=0x01 zero=1 verify=off check=0 quarantine_kb=1 \
	pin=1 track=1 scrub_interval_ms=60000; do
	get "$P/${change%%=*}"
	before=$VALUE
	set_policy provoke "$change"
	get $P/profile
	custom=$VALUE
	set_policy provoke "${change%%=*}=$before"
	get $P/profile
	is "$change makes the profile custom, and back" "$custom $VALUE" \
		"custom balanced"
done
set_policy provoke on_violation=report

# Defaults are for new caches.
put $SYS/defaults/poison 0x42
put $SYS/defaults/on_violation warn
get $P/poison
is "defaults do not change a cache" "$VALUE" zero
rmmod hslab_provoke
insmod "$MODULES/hslab_provoke.ko"
shows provoke poison=0x42 on_violation=warn profile=custom
get $SYS/profile
is "the profile of such defaults is custom" "$VALUE" custom

# The profile of all
put $SYS/profile debug
bad=
for cache in "$CACHES"/*; do
	get "$cache/profile"
	[ "$VALUE" = debug ] || bad="$bad ${cache##*/}=$VALUE"
done
is "the profile of the top is set everywhere" "$bad" ""
get $SYS/defaults/poison
is "and in the defaults" "$VALUE" 0x6b
get $P/on_violation
is "on_violation is left alone" "$VALUE" warn

# Others than root
[ -e /etc/passwd ] || {
	echo "nobody:x:65534:65534:nobody:/:/bin/sh" >/etc/passwd
	echo "nogroup:x:65534:" >/etc/group
}
# nobody COMMAND: run by sh as another user
nobody()
{
	su -s /bin/sh nobody -c "$1" 2>&1
}
if [ "$(nobody 'id -u')" = 65534 ]; then
	bad=
	for file in $SYS/profile $SYS/defaults/poison $P/poison $P/shrink \
		$P/scrub $SYS/purge; do
		said=$(nobody "echo zero >$file")
		case $said in
		*"ermission denied") ;;
		*)	bad="$bad [$file: $said]" ;;
		esac
	done
	is "only root can write" "$bad" ""
	is "everyone can read" "$(nobody "cat $P/poison")" 0x6b
	bad=
	for file in "$P"/stats/*; do
		said=$(nobody "cat $file")
		case $said in
		*"ermission denied") ;;
		*)	bad="$bad [$file: $said]" ;;
		esac
	done
	is "but no counts" "$bad" ""
	said=$(nobody "cat $DBG/faults")
	is "only root can read debugfs" "${said##*: }" "Permission denied"
else
	skip "only root can write" "no su here"
fi
ktap_end
