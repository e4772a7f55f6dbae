# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the tests of DKMS and of the packages share, after lib.sh.
#
# Sets tmp (a folder that goes with the script) and version (hslab's). A script
# ends with exit $failed.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2034 # for the script
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
nr=0 failed=0

# run_test NAME COMMAND...: the test passes when COMMAND succeeds, which runs in a
# subshell and ends at its first error. Progress is shown as by run_logged.
run_test()
{
	local name=$1 rc=0
	shift
	nr=$((nr + 1))
	begin_ticking "$name" "$tmp/log"
	("$@") >"$tmp/log" 2>&1 </dev/null &
	wait $! || rc=$?
	end_ticking
	if [ "$rc" -eq 0 ]; then
		echo "ok $nr $name"
	else
		sed 's/^/# /' "$tmp/log"
		echo "not ok $nr $name"
		# shellcheck disable=SC2034 # the script ends with it
		failed=1
	fi
}
