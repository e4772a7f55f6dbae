# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests share: paths, modules, files of one value, the kernel's log.
#
# usage: . "${0%/*}/lib.sh"
#
# Each test starts from freshly loaded modules (fresh), so that it finds known
# counters and policies, and a trap unloads them whatever happens. The modules
# are in HSLAB_MODULES, by default the folder above this one.
# shellcheck disable=SC2034,SC2086,SC2317 # used and called by others; no path here has blanks
set -u
# shellcheck source-path=SCRIPTDIR source=ktap.sh
. "${SELFTESTS:-${0%/*}}/ktap.sh"

MODULES=${HSLAB_MODULES:-${SELFTESTS:-${0%/*}}/..}
SYS=/sys/kernel/hslab
CACHES=$SYS/caches
DBG=/sys/kernel/debug/hslab
PROVOKE=/sys/kernel/debug/hslab_provoke
LOAD=/sys/kernel/debug/hslab_load

# What uses hslab
TEST_MODULES="hslab_attached hslab_frees hslab_leaks hslab_load hslab_pages hslab_provoke hslab_torture hslab_usercopy"

POLICIES="merge poison zero verify check quarantine_kb pin track scrub_interval_ms
	poison_typesafe on_violation"
KINDS="double_free cross_cache_free invalid_free overflow write_after_free bad_tag not_freed"

# get FILE: its first line, in VALUE.
get()
{
	VALUE=
	IFS= read -r VALUE <"$1" || VALUE=${VALUE:-"(unreadable)"}
}

# values FOLDER FILE...: in a line
values()
{
	values_folder=$1 values_all=
	shift
	for values_file; do
		get $values_folder/$values_file
		values_all="$values_all${values_all:+ }$VALUE"
	done
	echo "$values_all"
}

# put FILE VALUE: write a line; the status says whether it was taken.
put()
{
	{ echo "$2" >"$1"; } 2>/dev/null
}

# tries FILE VALUE: what came of writing it
tries()
{
	{ echo "$2" >"$1"; } 2>&1 | sed 's/.*: //'
}

# set_policy CACHE POLICY=VALUE...: what must succeed.
set_policy()
{
	policy_cache=$1
	shift
	for policy; do
		put "$CACHES/$policy_cache/${policy%%=*}" "${policy#*=}" ||
			not_ok "$policy_cache: set $policy" "refused"
	done
}

# provoke WORD...: have hslab_provoke do it; its answer is in VALUE.
provoke()
{
	put $PROVOKE/run "$*" || {
		not_ok "provoke $*" "refused"
		return 1
	}
	get $PROVOKE/result
}

# quietly COMMAND...: in a window in which the kernel may say BUG.
quietly()
{
	echo "hslab-test: expect-begin" >/dev/kmsg
	"$@"
	quietly_status=$?
	echo "hslab-test: expect-end" >/dev/kmsg
	return $quietly_status
}

# stat CACHE NAME: in VALUE
stat_of()
{
	get "$CACHES/$1/stats/$2"
}

# faults: violations of all caches, in VALUE
faults()
{
	get $SYS/faults
}

# no_faults NAME COMMAND...: nothing may be reported meanwhile.
no_faults()
{
	no_faults_name=$1
	shift
	faults
	no_faults_before=$VALUE
	"$@"
	faults
	is "$no_faults_name" $((VALUE - no_faults_before)) 0
}

# now_ms: since boot, in VALUE
now_ms()
{
	read -r VALUE _ </proc/uptime
	VALUE=${VALUE%.*}${VALUE#*.}0
}

# within MS COMMAND...: does it succeed before so many milliseconds are over?
within()
{
	now_ms
	within_end=$((VALUE + $1))
	shift
	while ! "$@"; do
		now_ms
		[ "$VALUE" -lt "$within_end" ] || return 1
		sleep 0.05
	done
}

loaded()
{
	[ -d "/sys/module/$1" ]
}

# unload MODULE...: those that are loaded.
unload()
{
	for module; do
		if loaded "$module"; then
			rmmod "$module" || return
		fi
	done
}

# unload_soon MODULE...: hslab lets go of itself a moment after the last object of a
# destroyed cache has come home.
unload_soon()
{
	within 10000 unload "$@" 2>/dev/null
}

# fresh [MODULE...]: load hslab anew, and these.
fresh()
{
	if ! unload_soon $TEST_MODULES hslab || ! insmod "$MODULES/hslab.ko"; then
		not_ok "load hslab"
		ktap_end
	fi
	for module; do
		insmod "$MODULES/$module.ko" || {
			not_ok "load $module"
			ktap_end
		}
	done
}

LOG_MARKS=0

# log_mark: what comes from now on is log_since.
log_mark()
{
	LOG_MARKS=$((LOG_MARKS + 1))
	LOG_MARK="hslab-test: mark $$.$LOG_MARKS"
	echo "$LOG_MARK" >/dev/kmsg
}

# log_since: the kernel's lines since log_mark, without time stamps.
log_since()
{
	dmesg | awk -v mark="$LOG_MARK" '
		{ sub(/^(<[0-9]+>)?\[ *[0-9.]+\](\[ *[TC][0-9]+\])? /, "") }
		found { print }
		$0 == mark { found = 1 }'
}

# last_report: the newest record of debugfs's faults, without its time.
last_report()
{
	tail -n 64 $DBG/faults |
		awk '/^\[/ { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }'
}

# preempt_rt: is this a kernel where SLUB may not be called in a hard interrupt?
preempt_rt()
{
	grep -q PREEMPT_RT /proc/version
}

# load_errors: what hslab_load found wrong, "" if nothing; needs allocations.
load_errors()
{
	awk -F = '
		$1 == "allocs" { if ($2 == 0) print "no allocations" }
		$1 != "allocs" && $1 != "hardirqs" && $2 != 0 { print }' $LOAD/stats | tr '\n' ' '
}

# What a test has to put right: it may define restore().
restore()
{
	:
}

at_exit()
{
	status=$?
	trap - EXIT
	restore
	unload $TEST_MODULES hslab
	if [ -z "$KTAP_ENDED" ]; then
		not_ok "the test ran to its end" "it ended with status $status"
		echo "1..$KTAP_NR"
		exit 1
	fi
	exit $status
}
trap at_exit EXIT
trap 'exit 143' TERM INT HUP
