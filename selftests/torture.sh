#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Everything at once, for HSLAB_TORTURE seconds (60), while CPU 1 goes and comes and
# the kernel drops its caches. scripts/torture does it for longer.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

CPU=/sys/devices/system/cpu/cpu1/online

# Until the file is gone.
disturb()
{
	while [ -e /tmp/tortured ]; do
		[ ! -w $CPU ] || put $CPU 0
		sleep 0.3
		[ ! -w $CPU ] || put $CPU 1
		echo 2 >/proc/sys/vm/drop_caches
		[ ! -w $SYS/purge ] || put $SYS/purge 1
		sleep 0.7
	done
}

restore()
{
	rm -f /tmp/tortured
	wait
	[ ! -w $CPU ] || put $CPU 1
}

ktap_begin
fresh
: >/tmp/tortured
disturb &
said=$(insmod "$MODULES/hslab_torture.ko" seconds="${HSLAB_TORTURE:-60}" 2>&1)
is "nothing was wrong with any object" "$said" ""
rm -f /tmp/tortured
wait
dmesg | sed -n 's/.*\(hslab-torture: .*\)/# \1/p' | tail -n 12
faults
is "nothing was reported" "$VALUE" 0
succeeds "the torture unloads" rmmod hslab_torture
succeeds "hslab unloads" rmmod hslab
ktap_end
