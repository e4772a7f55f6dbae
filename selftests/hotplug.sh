#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# A CPU goes and comes back under load.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

CPU=/sys/devices/system/cpu/cpu1/online

ktap_begin
[ -w $CPU ] || {
	skip "CPU 1 goes and comes" "no $CPU"
	ktap_end
}
restore()
{
	get $CPU
	[ "$VALUE" = 1 ] || put $CPU 1
}
fresh hslab_load hslab_provoke
put $LOAD/run "start 8" || not_ok "start the load"

# A count that was made on a CPU stays when it goes.
taskset -p 2 $$ >/dev/null
provoke hold provoke 33
taskset -p 1 $$ >/dev/null
bad=
for i in 1 2 3 4 5 6 7 8 9 10; do
	put $CPU 0 || bad="$bad $i:offline"
	get $CPU
	[ "$VALUE" = 0 ] || bad="$bad $i:$VALUE"
	[ $i != 5 ] || {
		stat_of provoke live
		offline=$VALUE
		provoke release provoke 3
	}
	sleep 0.1
	put $CPU 1 || bad="$bad $i:online"
	sleep 0.1
done
is "CPU 1 went and came 10 times" "$bad" ""
is "what it counted is seen while it is away" "$offline" 33
stat_of provoke live
is "and after" "$VALUE" 30
put $LOAD/run stop || not_ok "stop the load"
is "no content was wrong" "$(load_errors)" ""
faults
is "nothing was reported" "$VALUE" 0
bad=
for cache in "$CACHES"/load-*; do
	stat_of "${cache##*/}" live
	[ "$VALUE" = 0 ] || bad="$bad ${cache##*/}=$VALUE"
done
is "nothing is live" "$bad" ""
ktap_end
