#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What install-tools installs: the systemd units, the udev rule, the examples.
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
	for unit in "$tools"/systemd/*; do
		unit=${unit##*/}
		is "systemd-analyze: $unit" \
			"$(systemd-analyze verify --man=no "$dir/units/$unit" 2>&1)" ""
	done
	# 0: it could do nothing; 100: all that root can
	systemd-analyze security --no-pager --offline=yes --threshold=12 \
		"$dir/units/hslab-prometheus.service" >"$dir/log" 2>&1
	is "hslab-prometheus.service can do little" "$?" 0
else
	skip "systemd-analyze" "no systemd-analyze"
fi
is "hslab-prometheus.service writes where it looks and may" \
	"$(sed -n 's/^ReadWritePaths=//p; s/^ExecStart=.* -o \(.*\)\/hslab.prom$/\1/p; s/^ConditionPathIsDirectory=//p' \
		"$dir"/units/hslab-prometheus.* | sort -u)" /var/lib/prometheus/node-exporter
for unit in hslab hslab-prometheus; do
	is "$unit.service runs what was installed" "$(program "$dir/units/$unit.service")" \
		"$dir/usr/sbin/hslabctl"
done
is "90-hslab.rules, too" "$(program "$dir/rules/90-hslab.rules")" \
	"$dir/usr/sbin/hslabctl"
example=$(grep -o '/[^ ]*/examples/hslab.conf' "$dir/etc/hslab/README")
is "the example that README names is right" \
	"$("$dir/usr/sbin/hslabctl" check-config "$example" 2>&1)" ""
is "the alerts and the dashboard are there" "$(ls "$dir/usr/share/hslab-tools")" \
	"grafana-dashboard.json
hslab.rules.yml"
is "the example of modprobe.d has parameters that there are" \
	"$(sed -n 's/^options hslab //p' "${example%/*}/modprobe.d/hslab.conf" | tr ' ' '\n' |
		sed 's/=.*//' | while read -r name; do
			grep -q "^HSLAB_PARAM($name," "$tools/../hslab_policy.c" ||
				echo "$name"
		done)" ""
ktap_end
