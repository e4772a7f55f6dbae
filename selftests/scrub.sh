#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Scrubs: a write to a kept object is found, now or after a while, though nobody
# allocates.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

PAGES=/sys/kernel/debug/hslab_pages
ktap_begin
unload hslab_pages
fresh hslab_pages
restore()
{
	unload hslab_pages
}

pages()
{
	put $PAGES/run "$*" || not_ok "pages $*" "refused"
	get $PAGES/result
}

scrub()
{
	put $CACHES/pages/scrub 1 || not_ok "scrub" "refused"
}

# found NAME KIND OFFSET: it is the one report there is, and the newest.
found()
{
	stat_of pages "faults_$(echo $2 | tr - _)"
	is "$1: found" "$VALUE" 1
	case $(last_report | sed -n 1p) in
	"BUG: hslab: $2 in cache pages, object "*" of 200 bytes, offset $3")
		ok "$1: reported" ;;
	*)	not_ok "$1: reported" "$(last_report)" ;;
	esac
	scrub
	faults
	is "$1: once" $((VALUE - before)) 1
}

# new POLICY=VALUE...: a new cache
new()
{
	pages create 200
	set_policy pages profile=debug quarantine_kb=0 pin=0 scrub_interval_ms=0 "$@"
	faults
	before=$VALUE
}

for offset in 0 101 199; do
	for nth in 0 20 39; do
		new quarantine_kb=64
		pages alloc 40
		pages free
		pages plant free $offset $nth
		quietly scrub
		found "quarantined object $nth, offset $offset" write-after-free $offset
	done
	new pin=100
	pages alloc 500
	pages plant pin $offset
	quietly scrub
	found "pin, offset $offset" write-after-free $offset
done
new pin=100
pages alloc 500
pages plant pin 203
quietly scrub
found "pin, tag" bad-tag 203

#
# Counts
#
new quarantine_kb=64 pin=100
scrub
stat_of pages scrubs
is "a scrub with nothing to do" "$VALUE" 1
stat_of pages scrubbed
is "it verifies nothing" "$VALUE" 0
taskset -p 1 $$ >/dev/null	# the quarantine is one CPU's
pages alloc 100
pages free
stat_of pages quarantined
sum=$VALUE
is "all are in quarantine" "$VALUE" 100
stat_of pages pinned_pages
sum=$((sum + VALUE))
stat_of pages scrub_ns
ns=$VALUE
scrub
stat_of pages scrubbed
is "each object is verified once" "$VALUE" $sum
scrub
stat_of pages scrubbed
is "and again" "$VALUE" $((2 * sum))
stat_of pages scrubs
is "scrubs are counted" "$VALUE" 3
# Where the TSC is unstable, local_clock() stands still once a tick is late.
more_ns()
{
	scrub
	stat_of pages scrub_ns
	[ "$VALUE" -gt "$ns" ]
}
succeeds "time is counted" within 10000 more_ns
faults
is "nothing was reported" $((VALUE - before)) 0
for value in 0 2 "" "1 1"; do
	put $CACHES/pages/scrub "$value" && VALUE=taken || VALUE=refused
	is "scrub takes no '$value'" $VALUE refused
done

#
# From time to time
#
new quarantine_kb=64 scrub_interval_ms=10
pages alloc 40
pages free
quietly pages plant free 55 7
is_found()
{
	stat_of pages faults_write_after_free
	[ "$VALUE" -eq 1 ]
}
succeeds "found without being asked" quietly within 5000 is_found
set_policy pages scrub_interval_ms=0
stat_of pages scrubs
scrubs=$VALUE
is_not "there were scrubs" "$scrubs" 0
sleep 0.3
stat_of pages scrubs
is "0: there are none any more" "$VALUE" "$scrubs"
set_policy pages scrub_interval_ms=10
succeeds "unload with a scrub due" unload hslab_pages hslab
ktap_end
