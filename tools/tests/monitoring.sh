#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Monitoring: what hslabctl prometheus writes in a guest, before and after violations, is
# read by a real node_exporter and a real Prometheus with our alerts.
#
# usage: tools/tests/monitoring.sh HSLABCTL KERNELDIR
#
# KERNELDIR is a folder that scripts/kernel printed.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/../../selftests/ktap.sh"
set -u

ctl=$(cd "${1%/*}" && pwd)/${1##*/}
kernel=$2
top=$(cd "${0%/*}/../.." && pwd)
programs=$("$top/scripts/prometheus") || exit
rules=$top/tools/monitoring/hslab.rules.yml
dashboard=$top/tools/monitoring/grafana-dashboard.json
export LC_ALL=C
dir=$(mktemp -d)
pids=()
at_exit()
{
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	wait
	rm -rf "$dir"
	[ -n "$KTAP_ENDED" ] || echo "Bail out! ended early"
}
trap at_exit EXIT

# within SECONDS COMMAND...: does it succeed before they are over?
within()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

# names FILE...: of metrics in expressions, or in what hslabctl has written
names()
{
	grep -oh 'hslab_[a-z_]*' "$@" | sort -u
}

# written FILE: the names, and types, of the metrics there
written()
{
	sed -n 's/^# TYPE //p' "$1" | sort
}

# expressions: of the dashboard, a line each, with what its variables may stand for
expressions()
{
	jq -r '.. | objects | .expr | strings | gsub("\\$(job|instance|cache)\\b"; ".*")' \
		"$dashboard"
}

# in_guest: before hslab is loaded, with it, and after two violations. With no
# capability, as hslab-prometheus.service.
in_guest()
{
	local modules name put=()

	modules=$("$top/scripts/build" "$kernel") || return
	for name in hslab.ko selftests/modules/hslab_{provoke,attached}.ko; do
		put+=(--put "$modules/$name")
	done
	for name in none before after; do
		put+=(--get "/$name.prom:$dir/$name.prom")
	done
	PATH=${ctl%/*}:$PATH "$top/scripts/vm" --quiet --single \
		--append kfence.sample_interval=0 --put-program hslabctl \
		--put-program setpriv "${put[@]}" "$kernel" -- '
		set -e
		provoke=/sys/kernel/debug/hslab_provoke/run
		attached=/sys/kernel/debug/hslab_attached/run
		write()
		{
			setpriv --bounding-set=-all --inh-caps=-all --no-new-privs \
				hslabctl prometheus -o /$1.prom
		}
		write none
		for module in hslab hslab_provoke hslab_attached; do
			insmod /hslab/$module.ko
		done
		hslabctl set provoke quarantine_kb=64 pin=16
		hslabctl attach attached-victim mode=quarantine quarantine_kb=32
		echo hold provoke 3 >$provoke
		echo cycle victim free 5 >$attached
		write before
		echo "hslab-test: expect-begin" >/dev/kmsg
		echo double-free >$provoke
		echo double victim >$attached
		echo "hslab-test: expect-end" >/dev/kmsg
		write after' >&2
}

# show NAME: have node_exporter read that one from now on
show()
{
	cp "$dir/$1.prom" "$dir/textfile/hslab.prom.tmp"
	mv "$dir/textfile/hslab.prom.tmp" "$dir/textfile/hslab.prom"
}

# listens LOG: the address that a server says it listens on, in VALUE
listens()
{
	VALUE=$(sed -n 's/.*msg="Listening on".*address=\([0-9.:]*\).*/\1/p' "$1")
	[ -n "$VALUE" ]
}

# start NAME PROGRAM ARG...: a server on some port; its address is in VALUE
start()
{
	local name=$1
	shift
	: >"$dir/$name.log"
	"$programs/$1" "${@:2}" --web.listen-address=127.0.0.1:0 >"$dir/$name.log" 2>&1 &
	pids+=($!)
	within 60 listens "$dir/$name.log" || {
		not_ok "$name starts" "$(tail -n 5 "$dir/$name.log")"
		ktap_end
	}
	ok "$name starts"
}

# api PATH CURL_ARG...: the answer of Prometheus
api()
{
	local path=$1
	shift
	curl -sS -m 20 -G "http://$prometheus/api/v1/$path" "$@" 2>&1
}

# query EXPRESSION JQ_FILTER
query()
{
	api query --data-urlencode "query=$1" | jq -r "$2" 2>&1
}

# value EXPRESSION: of its only sample
value()
{
	query "$1" '.data.result | map(.value[1]) | join(" ")'
}

has_value()
{
	[ "$(value "$1")" = "$2" ]
}

# samples: those of the standard input, in one form: labels and lines sorted
samples()
{
	awk '!/^#/ {
		name = $1
		n = 0
		if (match(name, /\{.*\}$/)) {
			n = split(substr(name, RSTART + 1, RLENGTH - 2), label, ",")
			name = substr(name, 1, RSTART - 1)
		}
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && label[j] < label[j - 1]; j--) {
				swap = label[j]
				label[j] = label[j - 1]
				label[j - 1] = swap
			}
		for (i = 1; i <= n; i++)
			name = name " " label[i]
		printf "%s %.12g\n", name, $2
	}' | sort
}

# scraped: what Prometheus has, as in the file
scraped()
{
	query '{__name__=~"hslab_.*"}' '.data.result[] | (.value[1]) as $value | .metric |
		.__name__ + "{" + (del(.__name__, .job, .instance) | to_entries |
			map("\(.key)=\"\(.value)\"") | join(",")) + "} " + $value' |
		sed 's/{}//' | samples
}

# alerts: the critical ones that are firing
alerts()
{
	api alerts | jq -r '.data.alerts[] |
		select(.state == "firing" and .labels.severity == "critical") |
		.labels.alertname'
}

alert_is()
{
	[ "$(alerts)" = "$1" ]
}

# health: that of the rules, when all were evaluated
health()
{
	api rules | jq -r '.data.groups[].rules[] | .health + " " + (.lastError // "")' |
		sort | uniq -c
}

rules_healthy()
{
	[[ $(health) =~ ^[[:space:]]*$1" ok "$ ]]
}

ktap_begin
"$ctl" --root "$top/tools/tests/trees/6.12" prometheus >"$dir/tree.prom"
"$ctl" --root "$dir" prometheus >"$dir/empty.prom"
is "promtool test rules" "$(cd "$top/tools/monitoring" &&
	"$programs/promtool" test rules ./*.test.yml 2>&1 | grep -v -e '^Unit' -e SUCCESS -e '^$')" ""
is "promtool check rules" "$("$programs/promtool" check rules "$rules" |
	sed -n 's/.*SUCCESS: \([0-9]*\) rules found/\1/p')" "$(grep -c alert: "$rules")"
alerts=$(sed -n 's/.*- alert: //p' "$rules")
is "each alert has a test" "$(for alert in $alerts; do
	grep -q "alertname: $alert$" "$top"/tools/monitoring/*.test.yml || echo "$alert"
done)" ""
succeeds "files come out of the guest" in_guest || ktap_end
for name in tree empty none before after; do
	is "promtool check metrics: $name" "$("$programs/promtool" check metrics <"$dir/$name.prom" 2>&1
		echo "status $?")" "status 0"
done
is "without hslab" "$(samples <"$dir/none.prom")" "hslab_up 0"
is "the table of Documentation/monitoring.rst has each metric" \
	"$(sed -n 's/^``\(hslab_[a-z_]*\)`` *\([a-z]*\) .*/\1 \2/p' \
		"$top/Documentation/monitoring.rst" | sort)" "$(written "$dir/after.prom")"
is "that of the alerts, each, with its severity" \
	"$(sed -n 's/^``\(Hslab[A-Za-z]*\)`` *\(critical\|warning\|info\) .*/\1 \2/p' \
		"$top/Documentation/monitoring.rst" | sort)" \
	"$(awk '$2 == "alert:" { name = $3 } $1 == "severity:" { print name, $2 }' "$rules" | sort)"
is "the rules use what is written" "$(comm -23 <(names "$rules") <(names "$dir/after.prom"))" ""
expressions >"$dir/expressions"
is "the dashboard, too" \
	"$(comm -23 <(names "$dir/expressions") <(names "$dir/after.prom"))" ""
is "its panels do not overlap, and have numbers of their own" "$(jq -r '
	[.panels[] | .gridPos as $p | range($p.y; $p.y + $p.h) as $y |
		range($p.x; $p.x + $p.w) as $x | "\($x) \($y)"] +
	[.panels[].id | "panel \(.)"] |
	group_by(.)[] | select(length > 1)[0]' "$dashboard")" ""

mkdir "$dir/textfile"
show none
start node_exporter prometheus-node-exporter --collector.disable-defaults \
	--collector.textfile --collector.textfile.directory="$dir/textfile" \
	--web.disable-exporter-metrics
cat >"$dir/prometheus.yml" <<END
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files:
  - $rules
scrape_configs:
  - job_name: node
    static_configs:
      - targets: ['$VALUE']
END
start prometheus prometheus --config.file="$dir/prometheus.yml" \
	--storage.tsdb.path="$dir/tsdb"
prometheus=$VALUE

succeeds "Prometheus has a file that says that there is no hslab" within 60 has_value hslab_up 0
is "and nothing else" "$(scraped)" "$(samples <"$dir/none.prom")"
show before
succeeds "hslab is loaded" within 60 has_value hslab_up 1
is "Prometheus has each sample" "$(scraped)" "$(samples <"$dir/before.prom")"
succeeds "the rules are evaluated without an error" within 60 \
	rules_healthy "$(wc -l <<<"$alerts")"
is "node_textfile_scrape_error" "$(value node_textfile_scrape_error)" 0
is "the time of the file" \
	"$(value "node_textfile_mtime_seconds{file=\"$dir/textfile/hslab.prom\"}")" \
	"$(stat -c %Y "$dir/textfile/hslab.prom")"
is "no violation" "$(value hslab_faults_total)" 0
is "no alert" "$(alerts)" ""
is "objects that are held" "$(value 'hslab_live_objects{cache="provoke"}')" 3
is "the bound of a quarantine" \
	"$(value 'hslab_quarantine_limit_bytes{cache="provoke"}')" 65536
is "frees of what is attached, all in quarantine" \
	"$(value '{__name__=~"hslab_attached_(frees_total|quarantine_objects)"}')" "5 5"
is "its bound" "$(value hslab_attached_quarantine_limit_bytes)" 32768

show after
succeeds "the violations are there" within 60 has_value hslab_faults_total 2
is "Prometheus has each sample of after" "$(scraped)" "$(samples <"$dir/after.prom")"
is "by cache and kind" "$(query '{__name__=~"hslab_.*violations_total"} > 0' \
	'.data.result[].metric | "\(.__name__) \(.cache) \(.kind)"' | sort)" \
	"hslab_attached_violations_total attached-victim double_free
hslab_violations_total provoke double_free"
succeeds "the alert is firing" within 60 alert_is HslabViolation
is "it says where" "$(api alerts | jq -r '.data.alerts[] |
	select(.labels.alertname == "HslabViolation") | .annotations.description' |
	sed -n 's/.*was loaded: \(.*\); read the .*/\1/p')" \
	"provoke double_free 1; attached-victim double_free 1"
odd=''
while IFS= read -r expression; do
	nr=$(query "$expression" '"\(.status) \(.data.result | length)"')
	[[ $nr =~ ^success\ [1-9] ]] || odd+="$expression: $nr"$'\n'
done <"$dir/expressions"
is "each expression of the dashboard finds something" "$odd" ""
ktap_end
