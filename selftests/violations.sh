#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Each violation that hslab_provoke knows is found, once, by the right cache, at
# the right offset; and each action of on_violation does what it says.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
TAB=$(printf '\t')
LIST=/tmp/violations.list
restore()
{
	rm -f $LIST
}

# count CACHE: all that may change, in COUNTS (a word a kind) and SUMS
count()
{
	COUNTS=
	for k in $KINDS; do
		stat_of "$1" "faults_$k"
		COUNTS="$COUNTS $VALUE"
	done
	stat_of "$1" aside
	SUMS=$VALUE
	stat_of "$1" live
	SUMS="$SUMS $VALUE"
	faults
	SUMS="$SUMS $VALUE"
}

# due KIND NAME: what COUNTS and SUMS have to be after one violation more, in VALUE.
# An object that lost its whole tag counts as live until it is known what it was.
due()
{
	due_kind=$1 VALUE='' still=0
	case $2 in
	overflow-8 | overflow-64)	still=1 ;;
	esac
	# shellcheck disable=SC2086 # words
	set -- $COUNTS
	for k in $KINDS; do
		[ "$k" = "$due_kind" ] && add=1 || add=0
		VALUE="$VALUE $(($1 + add))"
		shift
	done
	case $due_kind in
	overflow | write_after_free | bad_tag | not_freed)	add=1 ;;
	*)							add=0 ;;
	esac
	# shellcheck disable=SC2086 # words
	set -- $SUMS
	VALUE="counts$VALUE; aside $(($1 + add)), live $(($2 + still)), all $(($3 + 1))"
}

# Call this after count: the same of what is there now.
counted()
{
	# shellcheck disable=SC2086 # words
	set -- $SUMS
	VALUE="counts$COUNTS; aside $1, live $2, all $3"
}

# newest: the first line of the newest report in debugfs, less what is the same
# in all and the pointer, in VALUE
newest()
{
	# shellcheck disable=SC2046 # words
	set -- $(awk '/^BUG: hslab: / { line = $0 } END { print line }' $DBG/faults)
	[ $# -ge 11 ] || set -- "${@:-none}" 2 3 4 5 6 7 8 9 10 11
	VALUE="$3 $4 $5 $6 $9 ${10}"
	shift 10
	VALUE="$VALUE $*"
}

# underscored KIND: as it is spelt in names of files, in VALUE
underscored()
{
	VALUE=$1
	while :; do
		case $VALUE in
		*-*)	VALUE=${VALUE%%-*}_${VALUE#*-} ;;
		*)	break ;;
		esac
	done
}

# warnings: how many the kernel gave since log_mark, and of what
warnings()
{
	log_since | awk '
		/^WARNING: / { n++ }
		/^hslab: [a-z-]+ in cache [^ ]+$/ { what = " " $2 " " $5 }
		END { print n + 0 what }'
}

# none_waits CACHE: for a grace period
none_waits()
{
	stat_of "$1" rcu_pending
	[ "$VALUE" -eq 0 ]
}

# run_case ACTION NAME CACHE KIND OFFSET: commit it; compare all with what is due
run_case()
{
	action=$1 name=$2 cache=$3 kind=$4 offset=$5
	get "$CACHES/$cache/object_size"
	want="$kind in cache $cache, of $VALUE bytes"
	[ "$offset" = - ] || want="$want, offset $offset"

	count "$cache"
	underscored "$kind"
	due "$VALUE" "$name"
	want="status $DUE_STATUS; $VALUE; $want"
	[ "$action" != warn ] || log_mark
	echo "hslab-test: expect-begin" >/dev/kmsg
	(echo "$name" >$PROVOKE/run) 2>/dev/null
	got="status $?"
	within 5000 none_waits "$cache"
	echo "hslab-test: expect-end" >/dev/kmsg
	count "$cache"
	counted
	got="$got; $VALUE"
	newest
	got="$got; $VALUE"
	if [ "$action" = warn ]; then
		got="$got; warnings $(warnings)"
		want="$want; warnings 1 $kind $cache"
	fi
	is "$action: $name" "$got" "$want"
}

# start [POLICY=VALUE...]: fresh modules, that look at all of each object
start()
{
	fresh hslab_provoke
	cat $PROVOKE/list >$LIST
	# shellcheck disable=SC2013 # words
	for cache in $(cut -f 2 $LIST | sort -u); do
		set_policy "$cache" verify=full "$@"
	done
}

# all_cases ACTION
all_cases()
{
	while IFS=$TAB read -r name cache kind offset _; do
		run_case "$1" "$name" "$cache" "$kind" "$offset" </dev/null
	done <$LIST
}

# console KIND NAME CACHE: the whole report, on the console and in debugfs
console()
{
	underscored "$1"
	stat_of "$3" "faults_$VALUE"
	nr=$((VALUE + 1))
	log_mark
	quietly provoke "$2"
	record=$(last_report)
	printed=$(log_since | awk '
		/^hslab:   Call Trace:$/ { exit }
		/^(BUG: )?hslab: / { print }')
	is "$1: console and debugfs say the same" "$printed" "$record"

	echo "$record" >/tmp/record
	text=$(awk -v kind="$1" -v cache="$3" -v nr="$nr" '
		NR == 1 {
			if ($0 !~ "^BUG: hslab: " kind " in cache " cache \
			    ", object [0-9a-f]+ of [0-9]+ bytes(, offset [0-9]+)?$")
				print
			offset = $NF ~ /^[0-9]+$/ ? $NF : -1
			next
		}
		/^hslab:   found by [^ ]+\[[0-9]+\] on CPU [0-9]+ at [a-z_]+\+0x[0-9a-f]+\/0x[0-9a-f]+ \[hslab_provoke\]$/ {
			found++
			next
		}
		/^hslab:   object (set aside|left as it is); [0-9]+ of this kind in the cache$/ {
			last = NR
			if ($0 !~ "; " nr " of this")
				print
			next
		}
		/^hslab:   offset [0-9]+: [.!]+ \([0-9]+ bytes? differs?\)$/ {
			if ($3 != offset ":" || substr($4, 1, 1) != "!")
				print
			next
		}
		/^hslab:   [a-z].*[a-z0-9]$/ && NR == 2 { next }
		{ print }
		END {
			if (found != 1)
				print found + 0 " lines found by"
			if (last != NR)
				print "the last line is another"
		}' /tmp/record)
	is "$1: each line is as its grammar says" "$text" ""
	rm -f /tmp/record
}

# One report of each kind. Ten in five seconds are printed: no more here.
start
console double-free double-free provoke
console cross-cache-free cross-cache-free provoke-b
console invalid-free invalid-free-inside provoke
console overflow overflow-padding provoke-odd
console write-after-free write-after-free-middle provoke
console bad-tag bad-tag provoke
console not-freed not-freed provoke
log_mark
quietly provoke double-free-bulk
is "there is a stack trace" "$(log_since | grep -cE \
	'^ +(hslab_free_bulk|provoke_double_free_bulk|command_run_write)\+0x')" 3

# Values only on request.
SHOW=/sys/module/hslab/parameters/show_values
shown()
{
	last_report | grep -cE '^hslab:   (expected|found   ) [0-9a-f]{2}( [0-9a-f]{2})*$'
}
quietly provoke overflow-nul
is "values are not shown" "$(shown)" 0
put $SHOW 1
is "values are shown with show_values" "$(shown)" 2
put $SHOW 0

# The console is limited; counters and debugfs are not.
log_mark
faults
before=$VALUE
twelve()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		provoke double-free
	done
}
quietly twelve
faults
is "12 more are all counted" $((VALUE - before)) 12
printed=$(log_since | grep -c '^BUG: hslab: ')
[ "$printed" -le 10 ] && printed="at most 10"
is "not all are printed" "$printed" "at most 10"
is "debugfs has them all" "$(grep -c '^BUG: hslab: double-free' $DBG/faults)" 14

# Every violation with each action.
DUE_STATUS=0
start on_violation=report
all_cases report
start on_violation=warn
all_cases warn
DUE_STATUS=137	# SIGKILL
start on_violation=kill
all_cases kill
DUE_STATUS=0

# Any fill is verified, and the offsets are the same.
for poison in 0x6b random; do
	start poison=$poison
	grep "${TAB}write-after-free$TAB" $LIST >$LIST.some
	mv $LIST.some $LIST
	all_cases poison=$poison
done

# No count is lost in a race, and none is wrong with what is not hslab's.
start
stat_of provoke frees
before=$VALUE
quietly provoke race provoke 300
stat_of provoke faults_double_free
is "300 races of two frees: one of each is a double free" "$VALUE" 300
stat_of provoke frees
is "300 races of two frees: the other frees" $((VALUE - before)) 300
stat_of provoke live
is "300 races of two frees: nothing is live" "$VALUE" 0

quietly provoke foreign provoke-b 500
is "500 objects of kmalloc(): none is written to" "$VALUE" "changed=0"
stat_of provoke-b faults_invalid_free
is "500 objects of kmalloc(): an invalid free each" "$VALUE" 500
stat_of provoke-b live
is "500 objects of kmalloc(): live is as it was" "$VALUE" 0
faults
is "nothing else was reported" "$VALUE" 800
lines=$(grep -c '^BUG: hslab: ' $DBG/faults)
is "debugfs holds the last 64" "$lines" 64
ktap_end
