#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# hslabctl report on recorded trees: what is on the page, and what a browser makes of it.
#
# usage: tools/tests/report.sh HSLABCTL [FOLDER]
#
# Screenshots go to FOLDER, as report-WIDTH-SCHEME.png, if there is one.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/../../selftests/ktap.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"; [ -n "$KTAP_ENDED" ] || echo "Bail out! ended early"' EXIT
trees=$(cd "${0%/*}/trees" && pwd)
shots=${2-}
[ -z "$shots" ] || shots=$(cd "$shots" && pwd)
# A user who may read little, and not this folder, is to run it as well.
chmod 755 "$dir"
cp "$1" "$dir/hslabctl"
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH=1796000000

# page TREE FILE: OUT is what hslabctl report says, STATUS its status.
page()
{
	STATUS=0
	OUT=$("$dir/hslabctl" --root "$1" report -o "$2" 2>&1) || STATUS=$?
}

# copy NAME: a copy of the busy tree, in TREE, with CACHES and FAULTS in it.
copy()
{
	TREE=$dir/$1 CACHES=$dir/$1/sys/kernel/hslab/caches
	FAULTS=$dir/$1/sys/kernel/debug/hslab/faults
	cp -r "$trees/6.12-busy" "$TREE"
}

# at XPATH [FILE]: what is there, by lines.
at()
{
	xmllint --xpath "$1" "${2:-$dir/busy.html}" 2>/dev/null | sed 's/^ *[a-z-]*="\(.*\)"$/\1/'
}

# well_formed NAME FILE
well_formed()
{
	is "$1: well-formed XML" "$(xmllint --noout "$2" 2>&1)" ""
}

# stat_of CACHE FILE
stat_of()
{
	cat "$busy/caches/$1/stats/$2"
}

# usage_of CACHE: live objects, sum, payload, overhead, cached, quarantine, pinned
usage_of()
{
	local live payload tags cached quarantine slot overhead

	slot=$(cat "$busy/caches/$1/slot_size") live=$(stat_of "$1" live)
	payload=$(stat_of "$1" payload_bytes) tags=$(stat_of "$1" tag_bytes)
	cached=$(($(stat_of "$1" cached) * slot))
	quarantine=$(stat_of "$1" quarantine_bytes)
	overhead=$((live * slot - payload))
	[ "$overhead" -ge "$tags" ] || overhead=$tags
	echo "$live" $((payload + overhead + cached + quarantine)) "$payload" "$overhead" \
		"$cached" "$quarantine" "$(stat_of "$1" pinned_bytes)"
}

ktap_begin
if ! command -v xmllint >/dev/null; then
	skip "hslabctl report" "there is no xmllint here (scripts/setup browser)"
	ktap_end
fi
busy=$trees/6.12-busy/sys/kernel/hslab
debug=$trees/6.12-busy/sys/kernel/debug/hslab
reports=$(grep -c '^\[' "$debug/faults")

page "$trees/6.12-busy" "$dir/busy.html"
is "report" "$STATUS:$OUT" "0:"
well_formed "report" "$dir/busy.html"
is "nothing is fetched, and there is no script" \
	"$(grep -n -i -E 'https?:|<script|<link|<img|<iframe|@import|src=|javascript:' \
		"$dir/busy.html"; grep -o -E 'url\([^)]*\)' "$dir/busy.html" | sort -u)" "url(#hatch)"
is "the head" "$(at 'string(//h1)'), $(at '//header/dl[1]//dd/text()' | grep . | paste -s -d ,)" \
	"hslab on hslab-guest, $(cat "$trees/6.12-busy/proc/sys/kernel/osrelease"),$(cat "$busy/version"),$(
		awk '{ sub(/\.0$/, "", $1); printf "%.1f s", $1 }' "$trees/6.12-busy/proc/uptime"
	)"
is "when it was made" "$(at 'string(//time/@datetime)')" "2026-11-30T00:53:20+0000"
sum() { awk '{ sum += $1 } END { print sum }' "$busy"/caches/*/stats/"$1"; }
tile() { at "normalize-space(//div[dt='$1']/dd)" | tr -d '\342\200\257'; }
is "the totals" "$(tile caches) $(tile 'live objects') $(tile violations) $(tile sealed)" \
	"$(find "$busy/caches" -mindepth 1 -maxdepth 1 | wc -l) $(sum live) $(cat "$busy/faults") yes"

greatest=0 shown='' wanted=''
for cache in "$busy"/caches/*; do
	name=${cache##*/}
	read -r -a usage < <(usage_of "$name")
	[ "${usage[1]}" -le "$greatest" ] || greatest=${usage[1]}
	shown+="$name $(at "//section[@id='memory']//tr[th='$name']/td/data/@value" |
		paste -s -d ' ')"$'\n'
	wanted+="$name ${usage[*]}"$'\n'
done
is "the numbers of each cache" "$shown" "$wanted"
shown='' wanted=''
for name in provoke load-own provoke-odd; do
	read -r -a usage < <(usage_of "$name")
	shown+="$name $(at "//section[@id='memory']/div[span='$name']/*[name()='svg']/*[@x or @class='pinned']/@width" |
		paste -s -d ' ')"$'\n'
	wanted+="$name $(printf '%s\n' "${usage[@]:2}" | awk -v scale="$greatest" '
		$1 > 0 { width = 100 * $1 / scale
			printf "%s%.2f%%", n++ ? " " : "", width < 0.3 ? 0.3 : width }')"$'\n'
done
is "how long the parts of bars are" "$shown" "$wanted"
is "the greatest is first" "$(at "string((//section[@id='memory']//span[@class='name'])[1])")" \
	"$(for cache in "$busy"/caches/*; do
		echo "$(usage_of "${cache##*/}" | cut -d ' ' -f 2) ${cache##*/}"
	done | sort -n | sed -n '$s/.* //p')"

draining=$(grep -l -v none "$busy"/caches/*/stores_draining | head -n 1)
store=$(cat "$draining") draining=$(basename "$(dirname "$draining")")
is "who has left a shared store is there, by a dashed line" \
	"$(at "//div[@class='merge'][.//b='store $store']//li/b/text() |
		//div[@class='merge'][.//b='store $store']//*/@class[. = 'solid' or . = 'dashed' or
			. = 'member' or . = 'draining']" | paste -s -d ' ')" \
	"solid dashed member provoke-b draining $draining"
is "what its slab pages take" \
	"$(at "string(//div[@class='store'][b='store $store']/data/@value)")" \
	"$(awk -v name="hslab:$store:provoke-b" '$1 == name { print $15 * $6 * 4096 }' \
		"$trees/6.12-busy/proc/slabinfo")"
is "each cache is in its store" \
	"$(at "count(//section[@id='stores']//li[not(contains(., 'draining'))])")" \
	"$(find "$busy/caches" -mindepth 1 -maxdepth 1 | wc -l)"
# A pair is in the files of both its caches, if both are in the tree.
is "why pairs do not share" \
	"$(at "//section[@id='stores']//div[@class='bar-row']/span[@class='name']/text() |
		//section[@id='stores']//div[@class='bar-row']//data/@value" | paste - - | sort)" \
	"$(for cache in "$debug"/caches/*; do
		awk -F ': ' -v name="${cache##*/}" -v known="$(ls "$busy/caches")" '
			BEGIN { n = split(known, list, "\n"); while (n) there[list[n--]] = 1 }
			!($1 in there) || name < $1 { print $2 }' "$cache/merge"
	done | sort | uniq -c | awk '{ n = $1; $1 = ""; print substr($0, 2) "\t" n }' | sort)"

is "a dot for each report" "$(at "//*[@class='dot']/*/text()" | awk '{ n += $1 } END { print n }')" \
	"$reports"
is "a lane for each kind" "$(at "//*[@class='lane']/text()" | sort)" \
	"$(sed -n 's/^BUG: hslab: \([a-z-]*\) in .*/\1/p' "$debug/faults" | sort | uniq -c |
		awk '{ print $2 ": " $1 }' | sort)"
is "all reports, newest first" \
	"$(at "//details[@class='fault']/summary/code/text()")" \
	"$(grep '^\[' "$debug/faults" | tac)"
is "the text of the newest" "$(at "string((//details[@class='fault']//pre)[1])")" \
	"$(tac "$debug/faults" | awk '/^\[/ { exit } { print }' | tac)"
is "no text ends with an empty line" "$(grep -c '^</pre>' "$dir/busy.html")" 0
is "violations by cache and kind" \
	"$(at "//section[@id='faults']//tr[th='provoke'][td='double-free']//data/@value" | paste -s -d ' ')" \
	"$(stat_of provoke faults_double_free) $(grep -c 'double-free in cache provoke,' "$debug/faults")"
is "and those of what hslab is attached to" \
	"$(at "//section[@id='faults']//tr[th='attached-victim'][td='write-after-free']/td//text()" |
		paste -s -d ,)" "write-after-free,1,1"
copy uncounted
rm "$FAULTS"
for file in "$CACHES"/*/stats/faults_*; do
	echo 0 >"$file"
done
page "$TREE" "$dir/uncounted.html"
is "and those alone, without reports" \
	"$(at "//section[@id='faults']//tr[th and td]/*//text()" "$dir/uncounted.html" |
		paste -s -d ,)" "attached-victim,write-after-free,1,not known"
copy detached
rm -r "$TREE/sys/kernel/hslab/attached/attached-victim"
page "$TREE" "$dir/detached.html"
is "and of what it is detached from, whose counts are gone" \
	"$(at "//section[@id='faults']//tr[th='attached-victim'][td='write-after-free']/td//text()" \
		"$dir/detached.html" | paste -s -d ,)" "write-after-free,not counted,1"

lifetimes=$debug/caches/load-own/lifetimes
is "lifetimes: a column for each line" \
	"$(at "//figure[.//b='load-own']//*[@class='column']/*/text()" | sed 's/.*: //')" \
	"$(sed 's/.*: //' "$lifetimes")"
is "lifetimes: how high they are" \
	"$(at "//figure[.//b='load-own']//*[@class='column']/@height")" \
	"$(awk '{ nr[NR] = $3; if ($3 > most) most = $3 }
		END { for (i = 1; i <= NR; i++) {
			height = 90 * nr[i] / most; printf "%.1f\n", height < 1 ? 1 : height } }' "$lifetimes")"
# sizes are from low on, to less than twice that
is "lifetimes: what is said of them" \
	"$(at "normalize-space(//figcaption[b='load-own'])" | tr -d '\342\200\257')" \
	"$(awk 'function unit(ns) {
			split("ns s ms s", name, " ")
			for (i = 1; ns >= 1000; i++) ns /= 1000
			ns = sprintf(ns >= 100 ? "%.0f" : ns >= 10 ? "%.1f" : "%.2f", ns)
			if (ns ~ /\./) sub(/\.?0+$/, "", ns)
			return ns " " (i == 2 ? "\302\265s" : name[i])
		}
		{ low[NR] = $1; nr[NR] = $3; sum += $3 }
		END {
			for (m = 1; 2 * part < sum; m++) part += nr[m]
			printf "load-own%d objects, %s to %s; half of them less than %s\n", sum,
				unit(low[1]), unit(2 * low[NR]), unit(2 * low[m - 1])
		}' "$lifetimes")"
is "lifetimes: of tracked caches alone" "$(at '//figure//b/text()')" \
	"$(grep -L 'not tracked' "$debug"/caches/*/lifetimes | sed 's/.*caches.//; s/.lifetimes//')"
is "lifetimes: which caches are not tracked, and what to do" \
	"$(at "//section[@id='lifetimes']/p[contains(., 'Not tracked')]/code/text()")" \
	"$(cd "$busy/caches" && grep -l -x 0 ./*/track | sed 's,^\./,,; s,/track$,,' | sort
		echo "hslabctl set CACHE track=1")"

victim=$busy/attached/attached-victim/stats
is "attached" \
	"$(at "//section[@id='attached']//tr[th='attached-victim']//data/@value" | paste -s -d ' ')" \
	"$(cd "$victim" && cat frees bulk filled swept held aside kfence astray | paste -s -d ' ')"

kinds=$(at "//section[@id='faults']//tr[th='provoke']/td[1]/text()")
is "the order is not that of folders" "$kinds" "$(sort <<<"$kinds")"
copy reversed
rm -r "$TREE"
mkdir "$TREE"
(cd "$trees/6.12-busy" && find . -type f | sort -r | tar -cf - -T -) | tar -C "$TREE" -xf -
page "$TREE" "$dir/again.html"
is "the same tree, the same page" "$(cmp "$dir/busy.html" "$dir/again.html" 2>&1)" ""
is "to the standard output" \
	"$("$dir/hslabctl" --root "$TREE" report | cmp - "$dir/busy.html" 2>&1)" ""

# Names of anything: those of the kernel are of up to 47 bytes, and of a process 15.
evil="<b>&\"'--><img src=x onerror=alert(1)>]]&gt;\\"
copy hostile
mv "$CACHES/provoke-b" "$CACHES/$evil"
mv "$TREE/sys/kernel/debug/hslab/caches/provoke-b" "$TREE/sys/kernel/debug/hslab/caches/$evil"
mv "$TREE/sys/kernel/hslab/attached/attached-victim" "$TREE/sys/kernel/hslab/attached/$evil"
echo "$evil" | tee "$TREE/proc/sys/kernel/hostname" >"$CACHES/provoke/merge"
echo "$evil: $evil" >>"$TREE/sys/kernel/debug/hslab/caches/provoke/merge"
printf '[    9.000000]\nBUG: hslab: %s in cache %s, object 00 of 8 bytes\nhslab:   found by %b[1]\n' \
	"$evil" "$evil" '\377\001\302\033\n[    1.000000]\nBUG: hslab' >>"$FAULTS"
page "$TREE" "$dir/hostile.html"
is "hostile names" "$STATUS:$OUT" "0:"
well_formed "hostile names" "$dir/hostile.html"
is "hostile names are text" \
	"$(at "count(//img) + count(//b[contains(., 'alert')]/*)" "$dir/hostile.html") $(
		at "string((//details[@class='fault'])[1]/summary/b[2])" "$dir/hostile.html")" "0 $evil"
is "hostile names: where they are" \
	"$(for place in '//head/title' '//h1' "//section[@id='memory']//tr/th" "//figcaption/b" \
		"//section[@id='stores']//li/b" "//section[@id='stores']//span[@class='name']" \
		"//section[@id='attached']//tr/th"; do
		xmllint --xpath "$place" "$dir/hostile.html" | grep -c -F '&lt;b&gt;&amp;'
	done | paste -s -d ' ')" "1 1 1 0 1 1 1"
is "hostile names could be in attributes, too" \
	"$(grep -c -F '<h1>hslab on &lt;b&gt;&amp;&quot;&#39;--&gt;' "$dir/hostile.html")" 1
is "a report is no other's end" \
	"$(at "count(//details[@class='fault'])" "$dir/hostile.html")" $((reports + 1))

copy many
for i in {10..39}; do
	cp -r "$CACHES/hslab-64" "$CACHES/hslab-64-$i"
	echo "$i" >"$CACHES/hslab-64-$i/stats/quarantine_bytes"
done
grep -A 4 '^\[' "$FAULTS" | head -n 5 >"$dir/one"
for i in {1..60}; do
	cat "$dir/one"
done >>"$FAULTS"
page "$TREE" "$dir/many.html"
well_formed "many caches" "$dir/many.html"
is "the least of many caches are one bar" \
	"$(at "//section[@id='memory']/div[span='and 28 others']//data/@value" "$dir/many.html")" \
	"$(($(seq -s + 10 36)))"
is "what is not nothing can be seen" \
	"$(at "//section[@id='memory']/div[span='hslab-64-39']/*/*[@class='quarantine']/@width" "$dir/many.html")" \
	"0.30%"
is "all are in the table" "$(at "count(//section[@id='memory']//tbody/tr)" "$dir/many.html")" 40
is "reports at one time are one dot" \
	"$(at "string((//*[@class='in-dot'])[1])" "$dir/many.html")" 61

# times SECONDS...: OUT is where the dots are, and the axis, of reports at these times.
times()
{
	for time; do
		printf '[%12s]\nBUG: hslab: overflow in cache c, object 0 of 8 bytes, offset 8\n' "$time"
	done >"$FAULTS"
	page "$TREE" "$dir/times.html"
	OUT="$(at "//*[@class='dot']/@cx" "$dir/times.html" | paste -s -d ' '), $(
		at "//*[@class='lanes']/*[@class='tick']/text()" "$dir/times.html" | paste -s -d ' ')"
}
copy times
times 100.500000 160.500000
is "the axis of a minute" "$OUT" "13.81% 76.79%, 90 s 120 s 150 s 180 s"
times 1000000.101250 1000000.148250
is "the axis of a moment" "$OUT" "5.35% 93.71%, 1000000.10 s +10 ms +20 ms +30 ms +40 ms +50 ms"
times 7.000000
is "the axis of one report" "$OUT" "3.47%, 7.00 s 7.01 s"
times 1.000000 200000000.000000
is "the axis of years" "$OUT" \
	"3.47% 88.07%, 0 s +365 d +730 d +1095 d +1460 d +1825 d +2190 d"
page "$trees/6.12" "$dir/times.html"
well_formed "an older tree, without stores and /proc" "$dir/times.html"
is "an older tree" "$STATUS:$OUT $(at 'string(//h1)' "$dir/times.html") $(
	at "//section[@id='stores']//li/b/text()" "$dir/times.html" | paste -s -d ' ')" \
	"0: hslab on an unknown host hslab-64 provoke-b provoke"
times nan 99999999999999999999.0 -1.0 inf
is "what is no time" "$OUT" ", "

copy quiet
: >"$FAULTS"
echo 0 >"$TREE/sys/kernel/hslab/faults"
echo 0 >"$TREE/sys/kernel/hslab/seal"
rm -r "$TREE/sys/kernel/hslab/attached"
for file in "$CACHES"/*/stats/faults_*; do
	echo 0 >"$file"
done
page "$TREE" "$dir/quiet.html"
well_formed "no violation" "$dir/quiet.html"
is "no violation" "$STATUS:$OUT $(at "normalize-space(//section[@id='faults'])" "$dir/quiet.html")" \
	"0: Violations No violation was found since the module was loaded."
is "not sealed, not attached" \
	"$(at "string(//div[dt='sealed']/dd)" "$dir/quiet.html") $(
		at "string(//section[@id='attached']/p)" "$dir/quiet.html")" \
	"no hslab is attached to no cache of others."

mkdir -p "$dir/empty/sys/kernel/hslab"
echo 0.1.0 >"$dir/empty/sys/kernel/hslab/version"
page "$dir/empty" "$dir/empty.html"
well_formed "an empty tree" "$dir/empty.html"
is "an empty tree" \
	"$STATUS:$OUT $(at "string(//section[@id='memory']/p)" "$dir/empty.html") $(
		at "string(//p[@class='missing'])" "$dir/empty.html")" \
	"0:hslabctl: report: 1 part is missing; the page says why There are no caches. Not on this page: The reports: there is no such file; is debugfs mounted on /sys/kernel/debug?"
page "$dir/none" "$dir/none.html"
is "no hslab" "$STATUS:$OUT:$(find "$dir/none.html" 2>/dev/null)" \
	"3:hslabctl: no hslab in $dir/none/sys/kernel/hslab: is the module loaded?:"

# As the kernel has it: debugfs is a folder for root, and counts are files for root.
copy user
chmod 700 "$TREE/sys/kernel/debug"
chmod 400 "$TREE"/sys/kernel/hslab/*/*/stats/* "$TREE/proc/slabinfo"
as=()
if [ "$(id -u)" -eq 0 ]; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
else
	chmod 0 "$TREE/sys/kernel/debug" "$TREE"/sys/kernel/hslab/*/*/stats/* "$TREE/proc/slabinfo"
fi
"${as[@]}" "$dir/hslabctl" --root "$TREE" report >"$dir/user.html" 2>"$dir/err"
is "not root" "$?:$(cat "$dir/err")" "0:hslabctl: report: 5 parts are missing; the page says why"
well_formed "not root" "$dir/user.html"
is "not root: what is missing" "$(at "//p[@class='missing']/text()" "$dir/user.html")" \
	"$(printf ' %s: only root may read that; run hslabctl report as root\n' \
		"What each cache takes" "Why caches do not share slots" "The reports" \
		"How long objects live" "What was freed")"
is "not root: who shares is there" \
	"$(at "//div[@class='merge'][.//b='store $store']//li/b/text()" "$dir/user.html" |
		paste -s -d ' ')" "provoke-b $draining"
is "not root: no count is made up" \
	"$(at "string(//div[dt='live objects']/dd)" "$dir/user.html") $(
		at "count(//section[@id='memory']//data)" "$dir/user.html")" "not known 0"
chmod -R u+rwX "$TREE"

is "a terminal" "$(script -q -e -c "'$dir/hslabctl' --root '$TREE' report" /dev/null 2>&1 </dev/null |
	tr -d '\r'; echo "status ${PIPESTATUS[0]}")" \
	"hslabctl: report: a page is nothing for a terminal; expected -o FILE
status 1"
is "a FILE without -o" "$("$dir/hslabctl" report page.html 2>&1; echo "status $?")" \
	"hslabctl: report: unexpected 'page.html'; did you mean -o 'page.html'?
status 1"
echo old >"$dir/kept.html"
is "a page for which there is no room" \
	"$(trap '' XFSZ; ulimit -f 8; "$dir/hslabctl" --root "$TREE" report -o "$dir/kept.html" 2>&1
		echo "status $?"; cat "$dir/kept.html"; find "$dir" -name 'kept.html.*')" \
	"hslabctl: $dir/kept.html: File too large
status 2
old"

if ! command -v chromium >/dev/null || ! command -v python3 >/dev/null; then
	skip "in a browser" "there is no chromium here (scripts/setup browser)"
	ktap_end
fi

# browse SCHEME WIDTH HEIGHT ARG...: chromium, which prefers SCHEME (0 dark, 1 light).
browse()
{
	local scheme=$1 size=$2,$3
	shift 3
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
		--user-data-dir="$dir/profile" --blink-settings=preferredColorScheme="$scheme" \
		--window-size="$size" "$@" 2>"$dir/chromium.log"
}

# ground PNG: the color of the pixel at the top left, which no filter changes.
ground()
{
	python3 - "$1" <<'END'
import struct, sys, zlib
png = open(sys.argv[1], "rb").read()
at, data = 8, b""
while at < len(png):
    size, kind = struct.unpack(">I4s", png[at:at + 8])
    if kind == b"IDAT":
        data += png[at + 8:at + 8 + size]
    at += size + 12
print(zlib.decompressobj().decompress(data, 4)[1:].hex())
END
}

# fits NAME FILE WIDTH: is nothing wider than the window? That cannot be so narrow, but a
# frame can.
fits()
{
	cat >"$dir/frame.html" <<-END
		<body onload="var page = document.getElementById('page').contentWindow;
			document.body.dataset.fits = page.innerWidth + ' ' +
				page.document.documentElement.scrollWidth">
		<iframe id="page" src="$2" width="$3" height="900" style="border: 0"></iframe>
	END
	is "$1: fits $3 pixels" "$(browse 1 1600 1000 --allow-file-access-from-files \
		--dump-dom "file://$dir/frame.html" |
		sed -n 's/.* data-fits="\([^"]*\)".*/\1/p')" "$3 $3"
}

for width in 400 1400; do
	for scheme in 0:dark:101418 1:light:ffffff; do
		IFS=: read -r nr name color <<<"$scheme"
		shot=$dir/report-$width-$name.png
		browse "$nr" "$width" $((width == 400 ? 6000 : 4200)) \
			--screenshot="$shot" "file://$dir/busy.html" >/dev/null
		is "$width pixels, $name: the ground" "$(ground "$shot" 2>&1)" "$color"
		[ -z "$shots" ] || cp "$shot" "$shots"
	done
done
copy long
name=$(printf 'a_name_of_a_cache_without_any_%.0s' {1..4})
mv "$CACHES/provoke-m1" "$CACHES/$name"
mv "$TREE/sys/kernel/debug/hslab/caches/provoke" "$TREE/sys/kernel/debug/hslab/caches/$name"
mv "$TREE/sys/kernel/hslab/attached/attached-victim" "$TREE/sys/kernel/hslab/attached/$name"
mv "$CACHES/provoke" "$CACHES/${name}2"
echo "$name" | tee "$TREE/proc/sys/kernel/hostname" "$TREE/sys/kernel/hslab/stores/$store/kmem_cache" \
	"$TREE/proc/sys/kernel/osrelease" >"$CACHES/provoke-b/merge"
sed -i "s/in cache provoke,/in cache $name,/" "$FAULTS"
page "$TREE" "$dir/long.html"
for width in 400 1400; do
	fits "report" "$dir/busy.html" $width
	fits "long names" "$dir/long.html" $width
done
ktap_end
