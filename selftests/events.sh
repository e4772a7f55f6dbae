#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# What is told of a violation beside the report: the trace event hslab:violation
# and uevents.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
TRACING=/sys/kernel/tracing
EVENT=$TRACING/events/hslab/violation
LIST=/tmp/events.list
UEVENTS=/tmp/uevents
LISTENER=
restore()
{
	[ -z "$LISTENER" ] || kill $LISTENER
	rm -f $LIST $UEVENTS $UEVENTS.sh /tmp/events.perf /tmp/events.bpf
}

#
# TRACE EVENT
#

# traced: what the trace holds, less what the kernel puts before it
traced()
{
	sed -n 's/^.* violation: //p' $TRACING/trace
}

# told: the newest report, in the words of the trace event
told()
{
	last_report | awk '
		/^BUG: hslab: / {
			kind = $3
			cache = $6
			object = $8
			size = $10
			sub(/,$/, "", cache)
			offset = /, offset / ? $NF : -1
			nr_bad = 0
		}
		/ it belongs to cache /			{ other = $NF }
		/ after cache [^ ]+ freed it/		{ other = $(NF - 2) }
		/^hslab: +cache [^ ]+ has it: /		{ other = $3; sub(/:$/, "", other) }
		/^hslab: +pointer is /			{ offset = $4 }
		/^hslab: +offset .*differs?\)$/		{ nr_bad = substr($5, 2) }
		/^hslab: +found by /			{ sub(/.* at /, ""); caller = $0 }
		/^hslab: +object (set aside|left as it is); / {
			aside = / set aside; / ? 1 : 0
			sub(/.*; /, "")
			nr = $1
		}
		END {
			print "kind=" kind, "cache=" cache, "other=" other,
				"object=" object, "size=" size,
				"offset=" offset, "nr_bad=" nr_bad,
				"caller=" caller, "aside=" aside, "nr=" nr
		}'
}

trace_cases()
{
	is "the event has its fields" "$(sed -n '
		/common_/d
		s/^.field:\(.*\);.offset:.*/\1/p' $EVENT/format | tr '\n' ,)" \
		"__data_loc char[] kind,__data_loc char[] cache,__data_loc char[] other,const void * object,unsigned int size,int offset,unsigned int nr_bad,unsigned long caller,bool aside,u64 nr,"
	cat $PROVOKE/list >$LIST
	# shellcheck disable=SC2013 # words
	for cache in $(cut -f 2 $LIST | sort -u); do
		set_policy "$cache" verify=full
	done
	: >$TRACING/trace
	quietly provoke double-free
	is "an event that is off traces nothing" "$(traced)" ""
	echo 1 >$EVENT/enable
	while read -r name _; do
		: >$TRACING/trace
		quietly put $PROVOKE/run "$name"
		is "traced: $name" "$(traced)" "$(told)"
	done <$LIST
	insmod "$MODULES/hslab_attached.ko"
	put $SYS/attach attached-victim
	put $SYS/attached/attached-victim/mode quarantine
	: >$TRACING/trace
	quietly put /sys/kernel/debug/hslab_attached/run "double victim"
	is "traced: double-free of what is attached" "$(traced)" "$(told)"
	: >$TRACING/trace
	put /sys/kernel/debug/hslab_attached/run "stray victim 77"
	quietly rmmod hslab_attached
	is "traced: write-after-free of what is attached" "$(traced)" "$(told)"
	is "and that is the cache" "$(traced | cut -d ' ' -f 2,5,6)" \
		"cache=attached-victim size=320 offset=77"
	: >$TRACING/trace
	quietly put $PROVOKE/run "foreign provoke 200"
	is "each of 200 is traced" "$(traced | grep -c 'kind=invalid-free cache=provoke ')" 200
	echo 0 >$EVENT/enable
	: >$TRACING/trace
}

# Three violations, for the tools to see.
THREE_RUNS="for name in double-free cross-cache-free write-after-free-first; do
		echo \$name >$PROVOKE/run
	done"
THREE="double-free provoke
cross-cache-free provoke-b
write-after-free provoke"

perf_case()
{
	quietly perf record -a -e hslab:violation -o /tmp/events.perf \
		sh -c "$THREE_RUNS" >/dev/null 2>&1
	is "perf sees violations" "$(perf script -i /tmp/events.perf 2>/dev/null |
		sed -n 's/.* kind=\([^ ]*\) cache=\([^ ]*\) .*/\1 \2/p')" "$THREE"
}

bpftrace_case()
{
	bpftrace -e 'BEGIN { printf("ready\n"); }
		tracepoint:hslab:violation {
			printf("%s %s\n", str(args->kind), str(args->cache));
		}' >/tmp/events.bpf 2>&1 &
	recorder=$!
	within 60000 grep -q ready /tmp/events.bpf
	sleep 1
	quietly sh -c "$THREE_RUNS"
	sleep 1
	kill -INT $recorder
	wait $recorder
	is "bpftrace sees violations" "$(grep -e '-free ' /tmp/events.bpf)" "$THREE"
}

fresh hslab_provoke
if [ -d $EVENT ]; then
	trace_cases
else
	skip "trace event" "no $EVENT: this kernel has no tracefs, or it is not mounted"
fi

for tool in perf bpftrace; do
	if command -v $tool >/dev/null; then
		${tool}_case
	else
		skip "$tool sees violations" "no $tool here"
	fi
done

#
# UEVENTS
#

# A line for each, in the order of the kernel.
listen()
{
	cat >$UEVENTS.sh <<-'END'
		#!/bin/sh
		case $SUBSYSTEM$HSLAB_KIND in
		hslab* | *-*)
			echo "$ACTION $DEVPATH $SUBSYSTEM kind=$HSLAB_KIND cache=$HSLAB_CACHE other=$HSLAB_OTHER nr=$HSLAB_NR missed=$HSLAB_MISSED" >>/tmp/uevents
			;;
		esac
	END
	chmod +x $UEVENTS.sh
	: >$UEVENTS
	uevent $UEVENTS.sh &
	LISTENER=$!
	sleep 0.5	# until it listens
}

# heard LINE: did this uevent come?
heard()
{
	grep -qxF -e "$1" $UEVENTS
}

# hears NAME LINE: it has to come, once
hears()
{
	within 5000 heard "$2"
	is "$1" "$(grep -cxF -e "$2" $UEVENTS)" 1
}

# all_heard N: N violations were told of, by an event or as missed
all_heard()
{
	[ "$(awk '/^change/ { sub(/.*missed=/, ""); n += 1 + $0 } END { print n + 0 }' $UEVENTS)" -ge "$1" ]
}

# changed PATTERN: how many of the events of violations match
changed()
{
	grep '^change ' $UEVENTS | grep -c -e "$1"
}

uevent_cases()
{
	unload_soon hslab_provoke hslab
	listen
	fresh hslab_provoke
	hears "a new cache" \
		"add /kernel/hslab/caches/provoke hslab kind= cache= other= nr= missed="
	quietly provoke double-free
	hears "a violation" \
		"change /kernel/hslab/caches/provoke hslab kind=double-free cache=provoke other= nr=1 missed=0"
	quietly provoke double-free
	quietly provoke cross-cache-free
	hears "another one" \
		"change /kernel/hslab/caches/provoke hslab kind=double-free cache=provoke other= nr=2 missed=0"
	hears "one with a second cache" \
		"change /kernel/hslab/caches/provoke-b hslab kind=cross-cache-free cache=provoke-b other=provoke nr=1 missed=0"
	insmod "$MODULES/hslab_attached.ko"
	put $SYS/attach attached-victim
	put $SYS/attached/attached-victim/mode quarantine
	hears "what is attached" \
		"add /kernel/hslab/attached/attached-victim hslab kind= cache= other= nr= missed="
	quietly put /sys/kernel/debug/hslab_attached/run "double victim"
	hears "a violation of what is attached" \
		"change /kernel/hslab/attached/attached-victim hslab kind=double-free cache=attached-victim other= nr=1 missed=0"
	put $SYS/attached/attached-victim/detach 1
	hears "what is detached" \
		"remove /kernel/hslab/attached/attached-victim hslab kind= cache= other= nr= missed="
	sleep 1.1

	# A storm: 10 a second, and the rest counted. The last 64 always come.
	: >$UEVENTS
	now_ms
	before=$VALUE
	quietly provoke foreign provoke 1000
	succeeds "a storm: all are told of" within 15000 all_heard 1000
	now_ms
	seconds=$(((VALUE - before) / 1000 + 2))
	sent=$(changed .)
	missed=$(awk '/^change/ { sub(/.*missed=/, ""); n += $0 } END { print n + 0 }' $UEVENTS)
	is "once" $((sent + missed)) 1000
	[ $sent -le $((10 * seconds)) ] && VALUE=few
	is "few are sent" "$VALUE" few
	is "the rest are missed" "$(changed 'missed=[1-9]' | sed 's/[1-9][0-9]*/some/')" some
	is "the last ones are not" "$(changed 'nr=9\(3[7-9]\|[4-9].\) ')" 63
	is "nor is the very last" "$(changed 'nr=1000 ')" 1

	# The cache goes before the events of a smaller storm are sent.
	: >$UEVENTS
	quietly provoke foreign provoke 20
	unload hslab_provoke
	hears "a cache that goes" \
		"remove /kernel/hslab/caches/provoke hslab kind= cache= other= nr= missed="
	succeeds "all of its violations are told of" within 10000 all_heard 20
	hears "the module stands in for it" \
		"change /module/hslab module kind=invalid-free cache=provoke other= nr=1020 missed=0"

	# So does hslab.
	insmod "$MODULES/hslab_provoke.ko"
	: >$UEVENTS
	quietly provoke foreign provoke 50
	unload_soon hslab_provoke hslab
	hears "unload: the last one is sent" \
		"change /module/hslab module kind=invalid-free cache=provoke other= nr=50 missed=0"
	is "unload: all are" "$(changed 'kind=invalid-free cache=provoke ')" 50
	hears "its own caches go" \
		"remove /kernel/hslab/caches/hslab-64 hslab kind= cache= other= nr= missed="
}

if command -v uevent >/dev/null; then
	uevent_cases
else
	skip "uevents" "no uevent (of busybox) to listen with"
fi
ktap_end
