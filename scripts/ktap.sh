# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What the tests of DKMS and of the packages share, after lib.sh.
#
# Sets tmp (a folder that goes with the script) and version (hslab's). A script
# ends with exit $failed.

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
nr=0 failed=0

# run_test NAME COMMAND...: the test passes when COMMAND succeeds.
run_test()
{
	local name=$1
	shift
	nr=$((nr + 1))
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $nr $name"
	else
		sed 's/^/# /' "$tmp/log"
		echo "not ok $nr $name"
		# shellcheck disable=SC2034 # the script ends with it
		failed=1
	fi
}

# loads KERNELDIR FOLDER: the one module hslab below FOLDER loads in a virtual
# machine, and is of this version.
loads()
{
	local module

	module=$(find "$2" -name 'hslab.ko*' | grep .) || return
	case $module in
	*.xz)	xz -dc "$module" >"$tmp/hslab.ko" ;;
	*)	cp "$module" "$tmp/hslab.ko" ;;
	esac
	"$TOP/scripts/vm" --put "$tmp/hslab.ko" "$1" -- \
		"insmod /hslab/hslab.ko && grep -x $version /sys/kernel/hslab/version && rmmod hslab"
}
