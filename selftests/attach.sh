#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Attaching to kmem_caches that are already there: what is refused, what each mode does
# to the caches of a module that knows nothing of hslab, and how it ends.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"
# shellcheck source-path=SCRIPTDIR source=attach-lib.sh
. "${0%/*}/attach-lib.sh"

ktap_begin
FTRACE=/proc/sys/kernel/ftrace_enabled
TRACING=/sys/kernel/tracing
untrace()
{
	echo nop >$TRACING/current_tracer
	echo 0 >$TRACING/events/kprobes/enable
	echo >$TRACING/kprobe_events
	echo >$TRACING/set_ftrace_filter
} 2>/dev/null
restore()
{
	echo 1 >$FTRACE
	untrace
}
fresh hslab_attached
taskset -p 1 $$ >/dev/null	# what is freed comes to one ring
victim=attached-victim
rcu_hook=
[ ! -e /sys/kernel/slab/$victim/sheaf_capacity ] || rcu_hook="__kfree_rcu_sheaf "
V=$ATTACHED/$victim

#
# REFUSED
#
is "nothing is attached at first" "$(ls $ATTACHED)" ""
is "and nothing hooked" "$(hooks)" ""
name63=$(printf '%063d' 0)
expected="attach: expected a name in /sys/kernel/slab"
refuses "a name of no cache, near one" attached-victi \
	"No such file or directory" "attach: there is no cache attached-victi; did you mean attached-victim?"
refuses "a name near none" qqqqqqqqqqqqqqqqqqqq \
	"No such file or directory" "attach: there is no cache qqqqqqqqqqqqqqqqqqqq in /sys/kernel/slab"
refuses "the longest name" $name63 \
	"No such file or directory" "attach: there is no cache $name63 in /sys/kernel/slab"
refuses "a longer one" ${name63}0 "Invalid argument" "attach takes a name in /sys/kernel/slab"
refuses "no name" "" "Invalid argument" "attach takes a name in /sys/kernel/slab"
refuses "the folder" . "Invalid argument" "$expected"
refuses "the folder above" .. "Invalid argument" "$expected"
refuses "a path" attached-victim/ "Invalid argument" "$expected"
refuses "a path to elsewhere" ../slab/attached-victim "Invalid argument" "$expected"
refuses "a constructor" attached-ctor "Operation not supported" \
	"attach: not to attached-ctor: it has a constructor, attached_ctor [hslab_attached], whose work must not be wiped"
refuses "SLAB_TYPESAFE_BY_RCU" attached-typesafe "Operation not supported" \
	"attach: not to attached-typesafe: it is SLAB_TYPESAFE_BY_RCU: its readers look at freed objects"
for own in /sys/kernel/slab/hslab:*; do
	own=${own##*/}
done
refuses "hslab's own" $own "Invalid argument" \
	"attach: $own is hslab's own, see /sys/kernel/hslab/caches"

if put $FTRACE 0; then
	refuses "with kernel.ftrace_enabled=0" $victim "Device or resource busy" \
		"attach: no hook for kmem_cache_free_bulk: -EBUSY (is kernel.ftrace_enabled 0, or the function patched?)"
	echo 1 >$FTRACE
	ftrace_why="Device or resource busy"
else
	skip "refused: with kernel.ftrace_enabled=0" "this kernel never takes it"
	ftrace_why=$(tries $FTRACE 0)
fi

#
# ATTACHED
#
log_mark
succeeds "attach" put $ATTACH $victim
is "the log says so" "$(said)" "attached to $victim, objects of 320 bytes"
is "it begins with" "$(values $V mode poison quarantine_kb track object_size aliases)" \
	"count 0xa5 256 0 320 "
is "the hooks are there" "$(hooks)" "$rcu_hook""kmem_cache_destroy kmem_cache_free_bulk"
refuses "twice" $victim "File exists" \
	"attach: $victim is attached already, as $victim"
is "kernel.ftrace_enabled=0 is refused now" "$(tries $FTRACE 0)" "$ftrace_why"
get $FTRACE
is "and is 1 still" "$VALUE" 1

log_mark
succeeds "attach to one of two that are merged" put $ATTACH attached-twin-b
is "its other name is told" "$(said)" \
	"attached to attached-twin-b, objects of 1336 bytes; it is also attached-twin-a"
is "and in aliases" "$(values $ATTACHED/attached-twin-b aliases)" attached-twin-a
refuses "the other one, which it is as well" attached-twin-a "File exists" \
	"attach: attached-twin-a is attached already, as attached-twin-b"

#
# COUNT
#
for how in free bulk kfree kfree-bulk; do
	case $how in
	*bulk)	bulk=1000 ;;
	*)	bulk=0 ;;
	esac
	counts_before
	attached cycle victim $how 1000
	is "count: $how" "$(counts frees bulk filled astray held)" "1000 $bulk 0 0 0"
done
# Others may look at the same functions meanwhile.
put $TRACING/kprobe_events "p:hslab_kfree kfree
p:hslab_bulk kmem_cache_free_bulk" || not_ok "kprobes"
put $TRACING/set_ftrace_filter "kfree kmem_cache_free kmem_cache_free_bulk"
put $TRACING/events/kprobes/enable 1
for tracer in nop function function_graph; do
	if ! grep -qw $tracer $TRACING/available_tracers; then
		skip "count: tracer $tracer" "this kernel has none"
		continue
	fi
	put $TRACING/current_tracer $tracer
	for mode in count quarantine; do
		put $V/mode $mode
		for how in free bulk kfree kfree-bulk; do
			counts_before
			attached cycle victim $how 1000
			is "$mode: $how, kprobes and tracer $tracer" \
				"$(counts frees astray)" "1000 0"
		done
	done
	put $V/mode count
done
untrace

# rcu_freed NAME COUNTS: frees, filled and astray of kfree_rcu()'s thousand
rcu_freed()
{
	counts_before
	attached cycle victim rcu 1000
	within 20000 eval '[ "$(counts frees)" = 1000 ]'
	is "$1: kfree_rcu" "$(counts frees filled astray)" "$2"
}
rcu_freed count "1000 0 0"
counts_before
attached cycle twin-a free 100
attached cycle kmalloc free 100
attached nothing
is "count: no frees of others" "$(counts frees)" 0
counts_before attached-twin-b
attached cycle twin-a free 100
attached cycle twin-b bulk 10
is "count: both names' frees" "$(counts frees bulk)" "110 10"

#
# THE CONTENT
#
# readable MODE WHAT WORDS: after its free
readable()
{
	attached secret $2
	is "$1: $2" "$VALUE" "$3"
}

put $ATTACH kmalloc-2k || not_ok "attach to kmalloc-2k"
# SLUB's free pointer takes 8 bytes of a free object, unless that is in a sheaf.
pointer=8
[ ! -e /sys/kernel/slab/$victim/sheaf_capacity ] || pointer=0
left=$((320 - pointer))
for cache in $victim kmalloc-2k; do
	case $cache in
	kmalloc*)	what=kmalloc size=2048 ;;
	*)		what=victim size=320 ;;
	esac
	C=$ATTACHED/$cache
	readable count $what "readable=$((size - pointer)) byte=0x5c same=$((size - pointer))"
	put $C/mode wipe
	readable wipe $what "readable=0 byte=0x00 same=$((size - pointer))"
	put $C/mode poison
	readable poison $what "readable=0 byte=0xa5 same=$((size - pointer))"
	put $C/poison 0x6b
	readable "poison 0x6b" $what "readable=0 byte=0x6b same=$((size - pointer))"
	put $C/mode quarantine
	readable quarantine $what "readable=0 byte=0x6b same=$size"
	put $C/poison 165
	readable "quarantine 165" $what "readable=0 byte=0xa5 same=$size"
	put $C/mode count
	readable "count again" $what "readable=$((size - pointer)) byte=0x5c same=$((size - pointer))"
done
for mode in wipe poison; do
	put $V/mode $mode
	rcu_freed $mode "1000 1000 0"
	for how in free bulk kfree kfree-bulk; do
		counts_before
		attached cycle victim $how 500
		is "$mode: $how" "$(counts frees filled kfence astray)" "500 500 0 0"
	done
done

#
# WHO FREES
#
# freed_by: of the victim, without ages and offsets, with the first line of each stack
TRACES=$DBG/attached/$victim/free_traces
freed_by()
{
	sed -n 's/+0x[0-9a-f]*\/0x[0-9a-f]*//; s/ age=[0-9/]* / /; s/pid=[0-9][0-9]*/pid=N/
		s/^ *//; /^[0-9]/{p;n;s/+0x[0-9a-f]*\/0x[0-9a-f]*//;s/^ */  from /;p}
		/not tracked/p' $TRACES
}
get $TRACES
is "track=0: nobody" "$VALUE" "not tracked"
by="attached_run [hslab_attached]"
for mode in count wipe quarantine; do
	put $V/mode $mode
	put $V/track 1
	get $TRACES
	is "$mode: track=1: none yet" "$VALUE" none
	attached cycle victim kfree-bulk 300
	attached cycle victim bulk 200
	attached cycle victim free 100
	attached cycle victim kfree 50
	put $V/track 0
	attached cycle victim free 25
	is "$mode: who freed how many" "$(freed_by)" "300 $by pid=N cpus=0
  from $by
200 $by pid=N cpus=0
  from $by
100 $by pid=N cpus=0
  from $by
50 $by pid=N cpus=0
  from $by"
done
put $V/mode count

#
# WHAT IS FREE ALREADY
#
for how in "victim $victim" "kmalloc kmalloc-2k"; do
	what=${how% *} cache=${how#* } C=$ATTACHED/${how#* }
	for mode in wipe poison quarantine; do
		put $C/mode count
		attached spill $what 500
		attached spilled $what
		is "sweep: $cache $mode: before" "$VALUE" "freed=400 secret=400"
		put $C/mode $mode
		counts_before $cache
		succeeds "sweep: $cache $mode" put $C/sweep 1
		attached spilled $what
		is "sweep: $cache $mode: afterwards" "$VALUE" "freed=400 secret=0"
		is "sweep: $cache $mode: is no free" "$(counts held astray)" "0 0"
		swept=$(counts swept)
		is "sweep: $cache $mode: as many, or more" "$((swept >= 400))" 1
	done
	attached spill $what 0
done
put $V/mode count
log_mark
why=$(tries $V/sweep 1)
is "sweep: not in mode count" "$why: $(said)" \
	"Invalid argument: $victim: sweep needs a mode that fills: wipe, poison or quarantine"
put $V/mode wipe
log_mark
put $V/sweep 1
is "sweep: the log says so" "$(said | sed 's/[0-9][0-9]*/N/')" "$victim: swept, N objects filled"
bad_value sweep 2 "sweep takes 1"

#
# QUARANTINE
#
put $V/mode count
attached reuse victim 64
is "count: an object is used again" "$VALUE" reused=1
put $V/mode quarantine
is "quarantine has hooks" "$(hooks)" "$rcu_hook""kfree kmem_cache_destroy kmem_cache_free kmem_cache_free_bulk"
attached reuse victim 64
is "quarantine: it is not" "$VALUE" reused=0

# Slots of 320 bytes, as many for each CPU.
cpus=$(grep -c ^processor /proc/cpuinfo)
# Rings of more bytes than this machine has.
put $ATTACH kmalloc-8 || not_ok "attach to kmalloc-8"
put $ATTACHED/kmalloc-8/mode quarantine
is "too much: no memory" "$(tries $ATTACHED/kmalloc-8/quarantine_kb 1048576)" \
	"Cannot allocate memory"
is "too much: nothing is changed" "$(values $ATTACHED/kmalloc-8 mode quarantine_kb)" \
	"quarantine 256"
put $ATTACHED/kmalloc-8/detach 1
for kb in 8 1 64; do
	put $V/quarantine_kb $kb
	is "$kb KiB: emptied" "$(values $V quarantine_kb stats/held)" "$kb 0"
	counts_before
	attached cycle victim free 2000
	attached cycle victim bulk 2000
	is "$kb KiB: full" "$(counts frees bulk filled aside) $(values $V stats/held)" \
		"4000 2000 4000 0 $(((kb * 1024 / 320 + cpus - 1) / cpus))"
done

set_track()
{
	put $V/track $1
	put $V/quarantine_kb 256
}
# wrote OFFSET: a write there is found, and who freed it
wrote()
{
	attached stray victim $1
	quietly put $V/quarantine_kb 256
	is "a write at $1" "$(last_report | grep -e '^BUG' -e written -e differ -e aside |
		sed 's/object [0-9a-f]* /object P /')" \
		"BUG: hslab: write-after-free in cache $victim, object P of 320 bytes, offset $1
hslab:   written after cache $victim freed it
hslab:   offset $1: $2 (1 byte differs)
hslab:   object set aside; $3 of this kind in the cache"
}

faults
before=$VALUE
set_track 1
wrote 0 '!...............' 1
wrote 77 '!...............' 2
wrote 319 '!' 3
is "and who freed it" "$(last_report | sed -n '/ freed by pid /{
	s/pid [0-9]* on CPU [0-9]*, [0-9.]* s/pid P on CPU C, T s/p
	n
	s/+0x.*/ .../p
}')" "hslab:   freed by pid P on CPU C, T s ago:
hslab:     attached_run ..."
set_track 0
wrote 160 '!...............' 4
is "without track: who, and no call trace" "$(last_report |
	sed -n '/ freed by pid /{
		s/pid [0-9]* on CPU [0-9]*, [0-9.]* s/pid P on CPU C, T s/p
		n
		p
	}')" "hslab:   freed by pid P on CPU C, T s ago:
hslab:     (the stack is not known)"
is "they are kept" "$(values $V stats/aside)" 4
attached stray victim 8
quietly attached cycle victim free 2000
is "one is found when it leaves" "$(values $V stats/aside)" 5
is "each is counted" "$(values $V stats/faults_write_after_free stats/faults_double_free)" "5 0"

O=$ATTACHED/attached-odd
put $ATTACH attached-odd || not_ok "attach to attached-odd"
put $O/mode quarantine
for offset in 311 312 316; do
	attached stray odd $offset
	quietly put $O/quarantine_kb 64
	marks=$(printf '%*s' $((317 - offset - 1)) '' | tr ' ' .)
	is "a write at $offset of 317 bytes" "$(last_report |
		sed -n 's/^BUG.* of //p; s/^hslab:   \(offset .*\)/\1/p')" \
		"317 bytes, offset $offset
offset $offset: !$marks (1 byte differs)"
done
no_faults "and none is seen where there is none" attached cycle odd free 1000
put $O/detach 1

quietly attached double victim
is "a double free" "$(last_report | grep -e '^BUG' -e 'it is in' -e found -e left |
	sed 's/object [0-9a-f]* /object P /; s/by .* at /by P at /; s/+0x[^ ]*//')" \
	"BUG: hslab: double-free in cache $victim, object P of 320 bytes
hslab:   it is in quarantine
hslab:   found by P at attached_run [hslab_attached]
hslab:   object left as it is; 1 of this kind in the cache"
is "it is counted" "$(values $V stats/faults_write_after_free stats/faults_double_free)" "5 1"
attached stray victim 100
quietly put $V/quarantine_kb 256
quietly attached again victim
is "a double free of what was set aside" "$(last_report | sed -n 's/^hslab:   it //p')" \
	"was set aside"
# again WHAT OFFSET NAME: a free, a write there, poison is another, and a free
again()
{
	attached stray $1 $2
	put $V/poison 0x3c
	quietly attached again $1
	is "a double free: $3" "$(last_report | sed -n 's/^BUG: hslab: \([^,]*\),.*/\1/p
		s/^hslab:   it //p')" \
		"double-free in cache attached-$1
is in quarantine"
	quietly put $V/quarantine_kb 256
	put $V/poison 0xa5
}
again victim 100 "poison is another"
again victim 0 "the first bytes as well"
again victim 319 "poison is another, and the last byte"
faults
is "all are counted" $((VALUE - before)) 17

for what in victim twin-b kmalloc; do
	case $what in
	victim)	C=$V ;;
	twin-b)	C=$ATTACHED/attached-twin-b ;;
	*)	C=$ATTACHED/kmalloc-2k ;;
	esac
	put $C/mode quarantine
	for how in free bulk kfree kfree-bulk; do
		no_faults "quarantine: $how of $what, no fault" \
			attached cycle $what $how 3000
	done
done
rcu_freed quarantine "1000 1000 0"

#
# A CACHE OF THE KERNEL'S
#
# other_names CACHE: of the folder that SLUB's name for it leads to
other_names()
{
	target=$(readlink -f /sys/kernel/slab/$1)
	for name in /sys/kernel/slab/*; do
		name=${name##*/}
		case $name in
		"$1" | :*)
			continue
			;;
		esac
		[ "$(readlink -f /sys/kernel/slab/$name)" != $target ] || echo $name
	done | sort | tr '\n' ' '
}

cred=cred
[ -d /sys/kernel/slab/$cred ] || cred=cred_jar	# before 6.12
succeeds "attach to $cred" put $ATTACH $cred
C=$ATTACHED/$cred
get $C/aliases
is "its aliases are SLUB's" "$(echo $VALUE | tr ' ' '\n' | sort | tr '\n' ' ')" \
	"$(other_names $cred)"
get /sys/kernel/slab/$cred/object_size
size=$VALUE
put $C/mode quarantine
attached stray cred 8
quietly put $C/detach 1
is "a write to a freed cred" "$(last_report | grep -e '^BUG' -e differ |
	sed 's/object [0-9a-f]* /object P /')" \
	"BUG: hslab: write-after-free in cache $cred, object P of $size bytes, offset 8
hslab:   offset 8: !............... (1 byte differs)"

#
# FILES
#
for value in '' Count count1 off 0 'wipe poison'; do
	bad_value mode "$value" "mode takes count, wipe, poison or quarantine"
done
for value in '' 0 -1 1048577 4294967297 1k; do
	bad_value quarantine_kb "$value" "quarantine_kb takes KiB, 1 to 1048576"
done
sleep 5	# the log is spared more than 10 such lines in 5 s
for value in '' -1 256 0x100 random; do
	bad_value poison "$value" "poison takes a byte: 0x00 to 0xff"
done
for value in '' 2 maybe; do
	bad_value track "$value" "track takes 0 or 1"
done
sleep 5
for value in '' 0 2 11; do
	bad_value detach "$value" "detach takes 1"
done
counts_before
put $V/mode quarantine
for _ in $(seq 130); do
	attached stray victim 8
done
quietly put $V/quarantine_kb 256
is "130 are damaged" "$(counts aside)" 130
log_mark
put $V/mode count
is "and 128 were kept" "$(said)" \
	"$victim: the quarantine ends; 128 damaged objects go back to SLUB"
before=count
for mode in wipe quarantine poison count quarantine quarantine wipe; do
	put $V/mode $mode
	attached cycle victim free 300
	is "mode $before to $mode" "$(values $V mode)" $mode
	before=$mode
done
is "and none is held after all" "$(values $V stats/held)" 0

#
# DETACHED, DESTROYED, UNLOADED
#
put $V/mode quarantine
attached cycle victim free 100
log_mark
succeeds "detach" put $V/detach 1
is "the log says so" "$(said)" "detached from $victim"
is "its folder has gone" "$(ls $ATTACHED)" "attached-twin-b
kmalloc-2k"
readable detached victim "readable=$left byte=0x5c same=$left"
succeeds "attach again" put $ATTACH $victim
is "it begins anew" "$(values $V mode stats/frees)" "count 0"

put $V/mode quarantine
for offset in 8 16 24; do
	attached stray victim $offset
done
quietly put $V/quarantine_kb 256
attached cycle victim free 500
log_mark
succeeds "a cache is destroyed with a quarantine" attached destroy victim
is "the log says so" "$(log_since | sed 's/^hslab: //')" \
	"detached from $victim, which is destroyed
$victim: the quarantine ends; 3 damaged objects go back to SLUB"
is "and its folder has gone" "$(ls $ATTACHED)" "attached-twin-b
kmalloc-2k"
succeeds "it is created again" attached create victim
readable "created again" victim "readable=$left byte=0x5c same=$left"
succeeds "and attached to" put $ATTACH $victim
put $V/mode poison
readable "created again, poison" victim "readable=0 byte=0xa5 same=$left"

log_mark
attached cycle twin-a free 100
mkdir /tmp/empty
mount --bind /sys/class /sys/kernel/slab
refuses "a folder that is no cache's" net "Invalid argument" \
	"attach: net is no kmem_cache in /sys/kernel/slab"
umount /sys/kernel/slab
log_mark
mount --bind /tmp/empty /sys/kernel/slab	# as in a container
succeeds "one of two that are merged is destroyed" attached destroy twin-b
is "which is no end" "$(said)$(ls -d $ATTACHED/attached-twin-b)" $ATTACHED/attached-twin-b
C=attached-twin-b
counts_before $C
attached cycle twin-a free 100
is "its frees are seen still" "$(counts frees filled)" "100 100"
log_mark
umount /sys/kernel/slab
succeeds "the other one, too" attached destroy twin-a
is "which is" "$(said)" "detached from $C, which is destroyed"

put $V/mode quarantine
put $V/quarantine_kb 4096
attached cycle victim free 5000
attached cycle kmalloc free 100
is_not "quarantines are full" "$(values $V stats/held)" 0
log_mark
succeeds "the module is unloaded" rmmod hslab
is "without a word" "$(said)" ""
is "and nothing is hooked" "$(hooks)" ""
if [ "$ftrace_why" = "Device or resource busy" ]; then
	succeeds "kernel.ftrace_enabled=0 may be set" put $FTRACE 0
	echo 1 >$FTRACE
fi
log_mark
succeeds "no object was left in the cache" attached destroy victim
is "says SLUB" "$(log_since)" ""
ktap_end
