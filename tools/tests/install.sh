#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What install-tools installs: the systemd unit, the udev rule, the examples.
#
# usage: tools/tests/install.sh HSLABCTL
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/../../selftests/ktap.sh"

tools=$(cd "${0%/*}/.." && pwd)
out=$(cd "${1%/*}" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"; [ -n "$KTAP_ENDED" ] || echo "Bail out! ended early"' EXIT

# program FILE: the hslabctl that a unit or a rule runs.
program()
{
	grep -o '/[^ "]*/hslabctl' "$1" | sort -u
}

ktap_begin
make -s -C "$tools/hslabctl" OUT="$out" PREFIX="$dir/usr" UNITDIR="$dir/units" \
	RULESDIR="$dir/rules" SYSCONFDIR="$dir/etc" install >"$dir/log" 2>&1
is "installs" "$?:$(cat "$dir/log")" "0:"
if command -v systemd-analyze >/dev/null; then
	is "systemd-analyze: hslab.service" \
		"$(systemd-analyze verify --man=no "$dir/units/hslab.service" 2>&1)" ""
else
	skip "systemd-analyze: hslab.service" "no systemd-analyze"
fi
is "hslab.service runs what was installed" "$(program "$dir/units/hslab.service")" \
	"$dir/usr/sbin/hslabctl"
is "90-hslab.rules, too" "$(program "$dir/rules/90-hslab.rules")" \
	"$dir/usr/sbin/hslabctl"
example=$(grep -o '/[^ ]*/examples/hslab.conf' "$dir/etc/hslab/README")
is "the example that README names is right" \
	"$("$dir/usr/sbin/hslabctl" check-config "$example" 2>&1)" ""
is "the example of modprobe.d has parameters that there are" \
	"$(sed -n 's/^options hslab //p' "${example%/*}/modprobe.d/hslab.conf" | tr ' ' '\n' |
		sed 's/=.*//' | while read -r name; do
			grep -q "^HSLAB_PARAM($name," "$tools/../hslab_policy.c" ||
				echo "$name"
		done)" ""
ktap_end
