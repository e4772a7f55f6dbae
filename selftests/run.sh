#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Run the tests in this folder, on the kernel that is running, as root. They load
# and unload hslab: not for a machine where it is in use.
#
# usage: run.sh [TEST ...]
#
# TEST is load, sysfs ... (all by default). Prints one KTAP document. The status
# is 0 if nothing failed, else 1.
cd "${0%/*}" || exit 1
# shellcheck source-path=SCRIPTDIR
. ./ktap.sh

[ $# -gt 0 ] ||
	set -- load sysfs abi stats violations policies rules quarantine toggles \
		hotplug readers torture track rcu pin scrub bucket \
		usercopy	# last: it leaves a kernel that has said BUG
ktap_begin
echo "1..$#"
for test; do
	# Which one is it, when the machine hangs?
	echo "hslab-test: test $test" >/dev/kmsg
	read -r start _ </proc/uptime
	{
		sh "./$test.sh" 2>&1
		echo "status $?"
	} | (
		status=1
		while IFS= read -r line; do
			case $line in
			"status "*)
				status=${line#status }
				;;
			*)
				echo "  $line"
				;;
			esac
		done
		exit "$status"
	)
	status=$?
	read -r end _ </proc/uptime
	echo "# $test: $(((${end%.*}${end#*.} - ${start%.*}${start#*.}) * 10)) ms"
	case $status in
	0)	ok "$test" ;;
	4)	skip "$test" "see its cases" ;;
	*)	not_ok "$test" "ended with status $status" ;;
	esac
done
ktap_totals
[ "$KTAP_FAIL" -eq 0 ]
