#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hslabctl on a recorded tree, without root and without hslab.
#
# usage: tools/tests/hslabctl.sh HSLABCTL
#
# HSLABCTL may have words before it, such as valgrind's. Prints a KTAP document.
# shellcheck disable=SC2086 # $ctl and lists are of words
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/../../selftests/ktap.sh"

ctl=$1
trees=$(cd "${0%/*}/trees" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"; [ -n "$KTAP_ENDED" ] || echo "Bail out! ended early"' EXIT
cp -r "$trees/6.12" "$dir/tree"
caches=$dir/tree/sys/kernel/hslab/caches

# run ARG...: OUT, ERR and STATUS of hslabctl on the copy of the tree.
run()
{
	STATUS=0
	$ctl --root "$dir/tree" "$@" >"$dir/out" 2>"$dir/err" </dev/null || STATUS=$?
	OUT=$(cat "$dir/out") ERR=$(cat "$dir/err")
}

# says NAME STATUS OUT ERR: what the last run did.
says()
{
	is "$1" "$STATUS:$OUT:$ERR" "$2:$3:$4"
}

# follows NAME OUT: wait until what faults -f has printed is OUT.
follows()
{
	tries=0
	until [ "$(cat "$dir/followed")" = "$2" ] || [ $tries -eq 300 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	is "$1" "$(cat "$dir/followed")" "$2"
}

# has CACHE KEY VALUE
has()
{
	is "$1 has $2=$3" "$(cat "$caches/$1/$2")" "$3"
}

ktap_begin

run list
says "list" 0 "cache     size slot store profile  merge live peak faults
hslab-64    64   80     2 custom   any      0    0      0
provoke    200  264    31 custom   never    5    6      1
provoke-b  200  216    25 balanced never    0    0      0" ""
run list --sort bytes --columns cache,bytes,faults --filter 'prov*'
says "list sorted and filtered" 0 "cache     bytes faults
provoke    1000      1
provoke-b     0      0" ""
run list --columns cache,fault
says "list with a wrong column" 1 "" "hslabctl: list: unknown column 'fault'; did you mean 'faults'?"
run show provok
says "show what is none" 1 "" "hslabctl: no cache 'provok'; did you mean 'provoke'?"
run show provoke
# a line a file, but for the two that are only written; two headings
is "show a cache" "$(grep -c . "$dir/out")" "$(find "$caches/provoke" -type f | wc -l)"
is "show its peak" "$(awk '$1 == "peak" { print $2 }' "$dir/out")" 6
mv "$caches/provoke/stats" "$dir/stats"
run list --columns cache,live,faults --filter provoke
says "list without counts" 0 "cache   live faults
provoke    -      -" ""
mv "$dir/stats" "$caches/provoke/stats"

# Patterns are what the kernel takes them for, in its rules.
for row in '*|.hidden hslab-64 provoke provoke-b' 'prov*[!b]|provoke' 'hslab-[0-9]?|hslab-64' \
	'[a-h]*|hslab-64' '[^h]*|hslab-64' '[!^h]*|.hidden provoke provoke-b' '[[:alpha:]]*|' \
	'provok[]e]|provoke' 'provoke[|' 'provok[\]e]|' 'provoke\-b|provoke-b' '*e*b*|provoke-b' \
	'provoke?b|provoke-b' 'provoke-|' '|'; do
	mkdir -p "$caches/.hidden"
	run list --columns cache --filter "${row%|*}"
	is "pattern '${row%|*}'" "$(sed 1d "$dir/out" | paste -s -d ' ')" "${row##*|}"
done
rmdir "$caches/.hidden"

run set 'provoke*' merge=group=fs poison=0x6b
says "set by a glob" 0 "" ""
has provoke merge group=fs
has provoke-b poison 0x6b
has hslab-64 merge any
run set provoke merg=any
says "set an unknown policy" 1 "" "hslabctl: unknown policy 'merg', expected one of profile, merge, poison, zero, verify, check, quarantine_kb, pin, track, scrub_interval_ms, poison_typesafe, on_violation; did you mean 'merge'?"
run set provoke verify=full zero=yes
says "set a wrong value" 1 "" "hslabctl: bad value of zero 'yes', expected auto, 0 or 1"
has provoke verify head
for bad in merge=group= merge=group=a/b poison=0x6 poison=0x0g zero= check=2 \
	quarantine_kb=01 quarantine_kb=-1 quarantine_kb=1048577 pin=x \
	scrub_interval_ms=9 scrub_interval_ms=86400001 profile=custom \
	merge=group=aaaaaaaaaabbbbbbbbbbccccccccccdd; do
	run set provoke "$bad"
	is "$bad is refused" "$STATUS" 1
done
for good in merge=group=aaaaaaaaaabbbbbbbbbbccccccccccd quarantine_kb=1048576 \
	scrub_interval_ms=0 scrub_interval_ms=10 scrub_interval_ms=86400000; do
	run set provoke "$good"
	is "$good is taken" "$STATUS" 0
done
run set nothing zero=1
says "set where nothing matches" 1 "" "hslabctl: no cache matches 'nothing'"
rm "$caches/provoke/zero"
mkdir "$caches/provoke/zero"
run set provoke zero=1
says "set what the kernel refuses" 2 "" "hslabctl: $caches/provoke/zero: '1' refused: Is a directory"
rmdir "$caches/provoke/zero"
echo auto >"$caches/provoke/zero"
run profile paranoid
is "profile of all" "$STATUS:$(cat "$dir/tree/sys/kernel/hslab/profile")" 0:paranoid
run profile provoke-b paranoia
says "a wrong profile" 1 "" "hslabctl: bad value of profile 'paranoia', expected off, fast, balanced, debug or paranoid; did you mean 'paranoid'?"
run profile provoke-b debug
has provoke-b profile debug

run seal
says "seal asks" 2 "" "Until reboot policies can only be tightened. Seal (yes/no)? hslabctl: not sealed"
run seal --yes
is "seal --yes" "$STATUS:$(cat "$dir/tree/sys/kernel/hslab/seal")" 0:1
run purge
is "purge" "$STATUS:$(cat "$dir/tree/sys/kernel/hslab/purge")" 0:1
run scrub 'prov*'
is "scrub" "$STATUS:$(cat "$caches/provoke/scrub")" 0:1

run attached
says "an hslab that cannot attach" 3 "" "hslabctl: this hslab cannot attach"
sys=$dir/tree/sys/kernel/hslab
dentry=$sys/attached/dentry
mkdir -p "$dentry/stats"
: >"$sys/attach"
: >"$dentry/detach"
: >"$dentry/sweep"
echo count >"$dentry/mode"
echo 192 >"$dentry/object_size"
echo >"$dentry/aliases"
echo 0xa5 >"$dentry/poison"
echo 256 >"$dentry/quarantine_kb"
echo 0 >"$dentry/track"
echo report >"$dentry/on_violation"
echo 17 >"$dentry/stats/frees"
echo 400 >"$dentry/stats/swept"
run attach filp
is "attach" "$STATUS:$(cat "$sys/attach")" 0:filp
for bad in mode=off mode= poison=zero poison=0xa quarantine_kb=0 quarantine_kb=1048577 \
	track=2 on_violation=none verify=full x; do
	run attach cred "$bad"
	is "attach with $bad is refused" "$STATUS:$(cat "$sys/attach")" 1:filp
done
says "attach with what is no policy" 1 "" "hslabctl: no value in 'x', expected KEY=VALUE"
run attach cred mod=wipe mode=quaratine
says "attach with wrong policies" 1 "" "hslabctl: unknown policy 'mod', expected one of on_violation, poison, track, quarantine_kb, mode; did you mean 'mode'?
hslabctl: bad value of mode 'quaratine', expected count, wipe, poison or quarantine; did you mean 'quarantine'?"
run attach dentry mode=quarantine quarantine_kb=64 track=1
is "attach with policies" "$STATUS:$(cat "$sys/attach" "$dentry/mode" "$dentry/quarantine_kb" \
	"$dentry/track" "$dentry/poison" | tr '\n' ' ')" "0:dentryquarantine6410xa5 "
mv "$dentry/mode" "$dentry/quarantine_kb" "$dir"
mkdir "$dentry/mode" "$dentry/quarantine_kb"
run attach dentry mode=wipe quarantine_kb=1
says "the mode is the last that is written" 2 "" "hslabctl: $dentry/quarantine_kb: '1' refused: Is a directory
hslabctl: $dentry/mode: 'wipe' refused: Is a directory"
rmdir "$dentry/mode" "$dentry/quarantine_kb"
mv "$dir/mode" "$dir/quarantine_kb" "$dentry"
run attached set dentry mode=poison poison=0x6b
is "attached set" "$STATUS:$(cat "$dentry/mode" "$dentry/poison")" 0:poison0x6b
run attached set dentry
says "attached set without a policy" 1 "" "hslabctl: attached takes NAME, set NAME KEY=VALUE..., or nothing"
run attached set filp mode=poison
says "attached set of what is not attached" 1 "" "hslabctl: 'filp' is not attached"
run sweep dentry
is "sweep" "$STATUS:$(cat "$dentry/sweep")" 0:1
run sweep filp
says "sweep what is not attached" 1 "" "hslabctl: 'filp' is not attached"
run attached dentry
says "all about what is attached" 0 "dentry
  aliases                
  mode                   poison
  object_size            192
  on_violation           report
  poison                 0x6b
  quarantine_kb          64
  track                  1
  stats:
    frees                  17
    swept                  400" ""
run list --json --filter none
is "list --json has what is attached" "$(grep -c -e '"swept": 400' -e '"mode": "poison"' "$dir/out")" 2
run attached
says "attached" 0 "dentry mode=poison object_size=192 aliases=" ""
run detach filp
says "detach what is not attached" 1 "" "hslabctl: 'filp' is not attached"
run detach dentry
is "detach" "$STATUS:$(cat "$sys/attached/dentry/detach")" 0:1

run stores
is "stores" "$(grep -A 1 '^store 31' "$dir/out")" "$(grep -A 1 '^store 31' "$trees/6.12/sys/kernel/debug/hslab/stores")"
run stores provoke
is "why a cache shares with another or not" "$(grep '^hslab-64:' "$dir/out")" "hslab-64: merge policy differs"
run faults
is "faults" "$STATUS:$OUT" "0:$(cat "$trees/6.12/sys/kernel/debug/hslab/faults")"
# The kernel keeps the last reports only: the first go while others come.
faults=$dir/tree/sys/kernel/debug/hslab/faults
# report SECONDS...: reports, as they are in the file
report()
{
	for second; do
		printf '[%5d.000000]\nBUG: hslab: %s\n  more of %s\n' $second $second $second
	done
}
report 1 2 >"$faults"
: >"$dir/followed"
$ctl --root "$dir/tree" faults -f >"$dir/followed" 2>"$dir/err" </dev/null &
follower=$!
follows "faults -f: those that are there" "$(report 1 2)"
report 2 3 4 >"$dir/faults"
mv "$dir/faults" "$faults"
follows "faults -f: those that come" "$(report 1 2 3 4)"
report 8 9 >"$dir/faults"
mv "$dir/faults" "$faults"
follows "faults -f: when all are new" "$(report 1 2 3 4 8 9)"
rm "$faults"
STATUS=0
wait $follower || STATUS=$?
is "faults -f: until they are gone" "$STATUS:$(cat "$dir/err")" \
	"2:hslabctl: $faults: No such file or directory"
cp "$trees/6.12/sys/kernel/debug/hslab/faults" "$faults"
run traces provoke
is "traces" "$STATUS:$(sed -n 2p "$dir/out")" \
	"0:  $(sed -n 1p "$trees/6.12/sys/kernel/debug/hslab/caches/provoke/alloc_traces")"

debug=$dir/tree/sys/kernel/debug/hslab/attached/dentry
mkdir -p "$debug"
printf '%s\n' '3 dput+0x1/0x2' '    dput+0x1/0x2' >"$debug/free_traces"
run traces dentry
says "traces of what is attached" 0 "free_traces (attached):
  3 dput+0x1/0x2
      dput+0x1/0x2" ""
cp -r "$dentry" "$sys/attached/provoke"
cp -r "$debug" "$debug/../provoke"
run traces provoke
is "traces of a cache and of what has its name" "$STATUS:$(grep '^[a-z]' "$dir/out" | tr '\n' ' ')" \
	"0:alloc_traces: free_traces: lifetimes: free_traces (attached): "
run traces filp
says "traces of what is none" 1 "" "hslabctl: 'filp' is no cache, and not attached"

# samples METRIC...: of the last output, in a line
samples()
{
	for metric; do
		sed -n "s/^${metric}[ {]/&/p" "$dir/out"
	done | sort | paste -s -d ' '
}

run prometheus
is "prometheus" "$STATUS:$(grep -e 'live_objects{cache="provoke"}' -e 'HELP hslab_live' \
	-e 'hslab_violations_total{cache="provoke",kind="double_free"' "$dir/out")" \
	'0:# HELP hslab_live_objects Objects allocated now.
hslab_live_objects{cache="provoke"} 5
hslab_violations_total{cache="provoke",kind="double_free"} 1'
echo 64 >"$caches/provoke/quarantine_kb"
echo 1500000001 >"$caches/provoke/stats/scrub_ns"
echo quarantine >"$dentry/mode"
echo 2 >"$dentry/stats/faults_double_free"
odd='a"b\c
d'
mv "$caches/provoke-b" "$caches/$odd"
mv "$dir/tree/sys/kernel/hslab/attached/provoke" "$dir"
run prometheus
is "of the machine" "$(samples hslab_up hslab_info hslab_sealed hslab_faults_total)" \
	'hslab_faults_total 1 hslab_info{version="0.1.0",profile="paranoid"} 1 hslab_sealed 1 hslab_up 1'
is "units, and what a label has to escape" \
	"$(samples hslab_quarantine_limit_bytes hslab_scrub_seconds_total)" \
	'hslab_quarantine_limit_bytes{cache="a\"b\\c\nd"} 0 hslab_quarantine_limit_bytes{cache="hslab-64"} 0 hslab_quarantine_limit_bytes{cache="provoke"} 65536 hslab_scrub_seconds_total{cache="a\"b\\c\nd"} 0.000000000 hslab_scrub_seconds_total{cache="hslab-64"} 0.000000000 hslab_scrub_seconds_total{cache="provoke"} 1.500000001'
is "of what is attached" "$(samples 'hslab_attached_[a-z_]*')" \
	'hslab_attached_frees_total{cache="dentry"} 17 hslab_attached_info{cache="dentry",mode="quarantine",on_violation="report"} 1 hslab_attached_object_size_bytes{cache="dentry"} 192 hslab_attached_quarantine_limit_bytes{cache="dentry"} 65536 hslab_attached_swept_objects_total{cache="dentry"} 400 hslab_attached_violations_total{cache="dentry",kind="double_free"} 2'
echo wipe >"$dentry/mode"
run prometheus
is "a bound that does not hold is 0" "$(samples hslab_attached_quarantine_limit_bytes)" \
	'hslab_attached_quarantine_limit_bytes{cache="dentry"} 0'
mv "$caches/$odd" "$caches/provoke-b"
mv "$dir/provoke" "$dir/tree/sys/kernel/hslab/attached"
echo 0 >"$caches/provoke/quarantine_kb"
run prometheus -o
is "prometheus -o without a FILE" "$STATUS" 1
run prometheus hslab.prom
says "prometheus FILE" 1 "" "hslabctl: prometheus takes no 'hslab.prom'"
mkdir "$dir/textfile"
prom=$dir/textfile/hslab.prom
umask 077
run prometheus -o "$prom"
says "prometheus -o" 0 "" ""
run prometheus
whole=$OUT
is "it is what would be printed" "$(cat "$prom")" "$whole"
chmod 600 "$prom"
run prometheus -o "$prom"
is "others can read it, whatever it was" "$(stat -c %a "$prom")" 644
umask 022
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
if $nobody true 2>/dev/null; then
	chmod 711 "$dir"
	cp "${ctl##* }" "$dir/hslabctl"
	chmod 777 "$dir/textfile"
	chmod 400 "$caches/provoke/stats/live"
	STATUS=0
	ERR=$($nobody "$dir/hslabctl" --root "$dir/tree" prometheus -o "$prom" 2>&1) ||
		STATUS=$?
	is "counts for root alone" "$STATUS:$ERR" "2:hslabctl: prometheus: counts are for root alone"
	is "the file is as it was" "$(cat "$prom")" "$whole"
else
	skip "counts for root alone" "this is not root"
fi
is "there is nothing else" "$(ls -A "$dir/textfile")" hslab.prom
mv "$dir/tree/sys/kernel/hslab" "$dir/gone"
run prometheus -o "$prom"
says "prometheus without hslab" 0 "" ""
is "it says so" "$(grep -v '^#' "$prom")" "hslab_up 0"
mv "$dir/gone" "$dir/tree/sys/kernel/hslab"

run list --json
cp "$dir/out" "$dir/a.json"
echo 9 >"$caches/provoke/stats/live"
rm -r "$caches/hslab-64"
run list --json
cp "$dir/out" "$dir/b.json"
run diff "$dir/a.json" "$dir/b.json"
says "diff" 0 "hslab-64 is gone
provoke live 5 -> 9 (+4)" ""
run diff "$dir/a.json" "$dir/err"
is "diff with what is no JSON" "$STATUS" 1
run diff "$dir/a.json" "$dir/none.json"
says "diff with what is not there" 2 "" "hslabctl: $dir/none.json: No such file or directory"

cat >"$dir/bad.conf" <<'CONF'
# comment
prov* verify=ful		# another
zero=1

defaults profile=fast
provoke
provoke qarantine_kb=4
CONF
run check-config "$dir/bad.conf"
says "check-config" 1 "" "$dir/bad.conf:2: bad value of verify 'ful', expected off, head or full; did you mean 'full'?
$dir/bad.conf:3: no pattern, expected PATTERN KEY=VALUE...
$dir/bad.conf:3: nothing to set, expected PATTERN KEY=VALUE...
$dir/bad.conf:5: defaults have no profile, expected single policies
$dir/bad.conf:6: nothing to set, expected PATTERN KEY=VALUE...
$dir/bad.conf:7: unknown policy 'qarantine_kb', expected one of profile, merge, poison, zero, verify, check, quarantine_kb, pin, track, scrub_interval_ms, poison_typesafe, on_violation; did you mean 'quarantine_kb'?"
printf 'a\033b pin=1\nc\t \303\244=\177 \rpin=2\r\n' >"$dir/odd.conf"
run check-config "$dir/odd.conf"
is "control characters" "$STATUS:$(cut -d , -f 1 "$dir/err")" \
	"1:$dir/odd.conf:1: a control character in PATTERN
$dir/odd.conf:2: unknown policy '$(printf '\303\244')'"
printf 'prov\303\244* pin=1\r\n\r\n* verify=full # \033\r\nhslab-64 pin=0' >"$dir/odd.conf"
run check-config "$dir/odd.conf"
says "other odd bytes, line ends of DOS, and none at the end" 0 "" ""
cp -r "$dir/tree" "$dir/before"
run apply "$dir/bad.conf"
is "apply writes nothing when a line is wrong" "$STATUS:$(diff -r "$dir/tree" "$dir/before")" "1:"
run check-config "$dir/none.conf"
says "a file that is not there" 2 "" "hslabctl: $dir/none.conf: No such file or directory"

cat >"$dir/1.conf" <<'CONF'
* verify=full check=0 on_violation=warn
provoke* profile=fast
provoke-b check=1 verify=off
defaults pin=7
CONF
echo 'provoke-b verify=head' >"$dir/2.conf"
run apply "$dir/1.conf" "$dir/2.conf"
says "apply" 0 "" ""
has provoke profile fast
has provoke on_violation warn
has provoke verify head
has provoke-b check 1
has provoke-b verify head
is "defaults have pin=7" "$(cat "$dir/tree/sys/kernel/hslab/defaults/pin")" 7

conf=$dir/tree/etc/hslab
run apply
says "apply without files" 0 "" ""
mkdir -p "$conf"
echo 'provoke* verify=off' >"$conf/9.conf"
echo 'provoke* verify=full poison=0x11' >"$conf/10.conf"
echo 'provoke* poison=0x22' >"$conf/b.conf"
echo 'defaults pin=9' >"$conf/a.conf"
echo 'provoke* wrong=1' | tee "$conf/.conf" "$conf/.9.conf" "$conf/z.conf~" "$conf/z.conf.dpkg-old" >"$conf/zconf"
echo zero >"$caches/provoke-b/poison"
run apply --cache provoke
says "apply --cache" 0 "" ""
has provoke verify off
has provoke poison 0x22
has provoke-b poison zero
is "apply --cache leaves the defaults" "$(cat "$dir/tree/sys/kernel/hslab/defaults/pin")" 7
run apply --cache provoke-b "$conf/10.conf"
is "apply --cache with a FILE" "$STATUS:$(cat "$caches/provoke-b/verify" "$caches/provoke-b/poison")" "0:full0x11"
for name in none defaults 'prov*' ../defaults; do
	run apply --cache "$name"
	says "apply --cache $name" 1 "" "hslabctl: no cache '$name'"
done
run apply
says "apply all of /etc/hslab" 0 "" ""
has provoke-b poison 0x22
has provoke-b verify off
is "defaults have pin=9" "$(cat "$dir/tree/sys/kernel/hslab/defaults/pin")" 9
echo 'zero=1' >"$conf/c.conf"
run check-config
says "check-config of /etc/hslab" 1 "" "$conf/c.conf:1: no pattern, expected PATTERN KEY=VALUE...
$conf/c.conf:1: nothing to set, expected PATTERN KEY=VALUE..."
run apply --cash provoke
is "apply with a wrong option" "$STATUS:$(grep -c cash "$dir/err")" 1:1

run save "$dir/saved.conf"
is "save" "$STATUS" 0
run set all zero=1 quarantine_kb=64
run apply "$dir/saved.conf"
run save "$dir/again.conf"
is "save, apply, save" "$(diff "$dir/saved.conf" "$dir/again.conf")" ""
for name in attach defaults 'a b#c=d[e]*' 'a\z'; do
	cp -r "$caches/provoke-b" "$caches/$name"
	echo 8 >"$caches/$name/pin"
done
run save "$dir/odd.conf"
is "the names that odd caches are saved with" "$(sed -n 's/ merge=.* pin=8 .*//p' "$dir/odd.conf")" \
	'a\ b\#c\=d\[e\]\*
a\\z
\attach
\defaults'
for name in attach defaults 'a b#c=d[e]*' 'a\z'; do
	echo 9 >"$caches/$name/pin"
done
run apply "$dir/odd.conf"
says "apply to odd caches" 0 "" ""
for name in attach defaults 'a b#c=d[e]*' 'a\z'; do
	has "$name" pin 8
	rm -r "${caches:?}/$name"
done

# Rules are the lines for caches, but for those of hslab's own, which are there.
rules=$dir/tree/sys/kernel/hslab/rules
cat >"$dir/rules.conf" <<'CONF'
* verify=full	# all of them
defaults zero=1
hslab-64 pin=1
provoke\ [ab;]\;c  profile=fast pin=2
provoke-b track=1
CONF
echo 'x track=1' >"$rules"
cp -r "$trees/6.12/sys/kernel/hslab/caches/hslab-64" "$caches"
run apply --cache provoke "$dir/rules.conf"
is "apply --cache leaves the rules" "$(cat "$rules")" "x track=1"
run apply "$dir/rules.conf"
is "apply writes the rules" "$(cat "$rules")" '* verify=full
provoke\ [ab\;]\;c profile=fast pin=2
provoke-b track=1'
rm -r "$caches/hslab-64"
printf '%s\n' 'attach track=1' 'defaults track=1' 'a#b\;=c\= track=1' provoke-b\ pin=1 '* pin=3' >"$rules"
run save "$dir/rules.conf"
is "save writes rules, but for caches that have a line" \
	"$(sed -n '/ track=1$/p; / pin=[13]$/p' "$dir/rules.conf")" '\attach track=1
\defaults track=1
a\#b\;\=c\= track=1
* pin=3'
run apply "$dir/rules.conf"
run save "$dir/rules.again"
is "save, apply, save rules" "$(diff "$dir/rules.conf" "$dir/rules.again")" ""
for i in $(seq 100); do
	echo "widget-$i track=1 poison=0x6b verify=full"
done >"$dir/long.conf"
run apply "$dir/long.conf"
says "apply more than the kernel keeps" 0 "" \
	"hslabctl: note: no room for rules of 4192 bytes (4095): udev is to set new caches"
is "no rules then" "$(cat "$rules")" ""
run rules
says "no rules" 0 "" ""
run rules set 'provoke* track=1   pin=2' 'x\ y;*  zero=1 # not this'
says "rules set" 0 "" ""
run rules
says "rules" 0 'provoke* track=1 pin=2
x\ y\;* zero=1' ""
run rules set 'x zero=1' 'y zerro=1' 'zero=1'
is "rules set, with wrong ones" "$STATUS:$(sed 's/ expected.*;//' "$dir/err")" \
	"1:rule:2: unknown policy 'zerro', did you mean 'zero'?
rule:3: no pattern, expected PATTERN KEY=VALUE...
rule:3: nothing to set, expected PATTERN KEY=VALUE..."
for rule in 'defaults zero=1' 'attach cred mode=wipe'; do
	run rules set "$rule"
	says "rules set '$rule'" 1 "" \
		"hslabctl: rules are for caches, not for defaults or what is attached"
done
for rule in '' ' ' '# x zero=1'; do
	run rules set 'x zero=1' "$rule"
	says "rules set '$rule'" 1 "" "hslabctl: rule 2 is empty; did you mean rules clear?"
done
run rules set "$(printf '%4095s' x | tr ' ' x) zero=1"
says "rules set, with more than the kernel keeps" 1 "" \
	"hslabctl: no room for rules of 4103 bytes, at most 4095"
for words in "set" "sett x" "clear x" "show"; do
	run rules $words
	says "rules $words" 1 "" \
		"hslabctl: rules takes set 'PATTERN KEY=VALUE...' ..., clear, or nothing"
done
is "they are as they were" "$(head -c 8 "$rules")" "provoke*"
run rules clear
says "rules clear" 0 "" ""
is "it clears them" "$(cat "$rules")" ""
mv "$rules" "$dir/rules"
run rules
says "rules that cannot be read" 2 "" "hslabctl: $rules: No such file or directory"
run save "$dir/rules.again"
says "save rules that cannot be read" 2 "" "hslabctl: $rules: No such file or directory"
mv "$dir/rules" "$rules"
run apply "$dir/saved.conf"
umask 027
run save "$dir/mode.conf"
is "the mode of a new file" "$(stat -c %a "$dir/mode.conf")" 640
umask 022
ln -s saved.conf "$dir/link.conf"
chmod 604 "$dir/saved.conf"
echo old >"$dir/saved.conf"
exec 4<"$dir/saved.conf"
run save "$dir/link.conf"
is "save by a link" "$STATUS:$(cmp "$dir/saved.conf" "$dir/again.conf" 2>&1)" "0:"
is "the mode of a file that was there" "$(stat -c %a "$dir/saved.conf")" 604
is "who has the old file open reads it" "$(cat <&4)" old
exec 4<&-
mv "$caches/provoke-b/track" "$dir"
run save "$dir/link.conf"
says "save what cannot be read" 2 "" "hslabctl: $caches/provoke-b/track: No such file or directory"
is "what was saved before is kept" "$(cmp "$dir/saved.conf" "$dir/again.conf" 2>&1)" ""
mv "$dir/track" "$caches/provoke-b"
run save "$dir/none/x.conf"
says "save where no folder is" 2 "" "hslabctl: $dir/none/x.conf: No such file or directory"
is "save more than there is room for" \
	"$(trap '' XFSZ; ulimit -f 0; $ctl --root "$dir/tree" save "$dir/link.conf" 2>&1 || echo "status $?")" \
	"hslabctl: $dir/saved.conf: File too large
status 2"
is "what was saved before is still kept" "$(cmp "$dir/saved.conf" "$dir/again.conf" 2>&1)" ""
ln -s /proc/self/fd/1 "$dir/pipe.conf"
is "save to a pipe" "$($ctl --root "$dir/tree" save "$dir/pipe.conf")" "$(cat "$dir/again.conf")"
is "the link to it" "$(readlink "$dir/pipe.conf")" /proc/self/fd/1
is "nothing temporary is left" "$(find "$dir" -name '*.conf.*' ! -name '*.dpkg-old')" ""

# Lines of what hslab is attached to: dentry is, and filp was the last to be asked for.
cat >"$dir/bad.conf" <<'CONF'
attach
attach mode=wipe	# no name
attach kmalloc-* mode=wipe
attach ../caches/x
attach cred mod=wipe mode=quaratine
attach cred verify=full quarantine_kb=0 poison=zero
attach cred x
attach cred
\attach mode=wipe
CONF
run check-config "$dir/bad.conf"
says "check-config: attach" 1 "" "$dir/bad.conf:1: no name, expected attach NAME [KEY=VALUE...]
$dir/bad.conf:2: no name, expected attach NAME [KEY=VALUE...]
$dir/bad.conf:3: attach takes one name in /sys/kernel/slab, no glob
$dir/bad.conf:4: attach takes one name in /sys/kernel/slab, no path
$dir/bad.conf:5: unknown policy 'mod', expected one of on_violation, poison, track, quarantine_kb, mode; did you mean 'mode'?
$dir/bad.conf:5: bad value of mode 'quaratine', expected count, wipe, poison or quarantine; did you mean 'quarantine'?
$dir/bad.conf:6: unknown policy 'verify', expected one of on_violation, poison, track, quarantine_kb, mode
$dir/bad.conf:6: bad value of quarantine_kb '0', expected KiB, 1 to 1048576
$dir/bad.conf:6: bad value of poison 'zero', expected a byte: 0x00 to 0xff
$dir/bad.conf:7: no value in 'x', expected KEY=VALUE
$dir/bad.conf:9: unknown policy 'mode', expected one of profile, merge, poison, zero, verify, check, quarantine_kb, pin, track, scrub_interval_ms, poison_typesafe, on_violation"

# attached_has NAME VALUE: of dentry: mode, quarantine_kb, poison, track, on_violation
attached_has()
{
	is "$1" "$(for file in mode quarantine_kb poison track on_violation; do
		printf '%s ' "$(cat "$dentry/$file")"
	done)" "$2 "
}
for word in mode=quarantine quarantine_kb=64 poison=0xa5 track=1 on_violation=report; do
	echo "${word#*=}" >"$dentry/${word%%=*}"
done
cp -r "$dentry" "$sys/attached/a b"
echo 5 >"$caches/provoke/pin"
run save "$dir/attached.conf"
is "attached caches are saved" "$STATUS:$(grep '^attach ' "$dir/attached.conf")" \
	'0:attach a\ b on_violation=report poison=0xa5 track=1 quarantine_kb=64 mode=quarantine
attach dentry on_violation=report poison=0xa5 track=1 quarantine_kb=64 mode=quarantine
attach provoke on_violation=report poison=0x6b track=1 quarantine_kb=64 mode=poison'
cp -r "$sys/attached" "$dir/attached"
touch -d @0 "$dentry"/*
run apply "$dir/attached.conf"
is "what an attached cache has is not written again" \
	"$STATUS:$(find "$dentry" -maxdepth 1 -type f -newermt @0):$(diff -r "$sys/attached" "$dir/attached")" "0::"
cat >"$dir/attached.conf" <<'CONF'
attach dentry mode=wipe track=0
provoke pin=6
attach dentry mode=poison poison=0xA5
attach dentry quarantine_kb=128	# of another line, the mode stays
CONF
run apply --cache provoke "$dir/attached.conf"
attached_has "apply --cache leaves what is attached" "quarantine 64 0xa5 1 report"
run apply "$dir/attached.conf"
says "apply to what is attached" 0 "" ""
attached_has "the last line counts, for each key" "poison 128 0xa5 0 report"
is "it is not attached again" "$(cat "$sys/attach")" dentry
is "what is not written in other letters" "$(stat -c %Y "$dentry/poison")" 0
has provoke pin 6
sed -i '1i attach cred mode=wipe\nattach cred track=1' "$dir/attached.conf"
rm "$sys/attach"
run apply "$dir/attached.conf"
says "apply where hslab cannot attach" 2 "" "hslabctl: this hslab cannot attach"
mkdir "$sys/attach"
echo 0 >"$caches/provoke/pin"
echo count >"$dentry/mode"
run apply "$dir/attached.conf"
says "apply what the kernel refuses to attach to" 2 "" "hslabctl: $sys/attach: 'cred' refused: Is a directory"
has provoke pin 6
attached_has "the rest is applied" "poison 128 0xa5 0 report"
rmdir "$sys/attach"
: >"$sys/attach"
run apply "$dir/attached.conf"
is "apply attaches what is not attached yet" "$STATUS:$(cat "$sys/attach"):$ERR" \
	"2:cred:hslabctl: $sys/attached/cred/track: '1' refused: No such file or directory
hslabctl: $sys/attached/cred/mode: 'wipe' refused: No such file or directory"
echo 'attach a\ b mode=wipe' >"$dir/attached.conf"
run apply "$dir/attached.conf"
is "a name with a blank" "$STATUS:$(cat "$sys/attached/a b/mode")" 0:wipe
rm -r "$sys/attached/a b"

run shw
says "an unknown command" 1 "" "hslabctl: unknown command 'shw'; did you mean 'show'?"
run
says "no command" 1 "" "hslabctl: no command, see hslabctl --help"
run --version
says "the version is that of dkms.conf" 0 \
	"hslabctl $(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "${0%/*}/../../dkms.conf")" ""
for command in $($ctl --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
	run $command --help
	is "$command --help" "$STATUS:${OUT%%
*}" "0:$(grep -m 1 "^usage: hslabctl $command" "$dir/out")"
done
# An argument that is no name is none of a folder, or of another.
for name in '' . .. a/b ../caches/provoke; do
	run attach "$name"
	says "attach '$name'" 1 "" "hslabctl: attach takes a name in /sys/kernel/slab, and KEY=VALUE..."
	run show "$name"
	says "show '$name'" 1 "" "hslabctl: no cache '$name'"
	run stores "$name"
	says "stores '$name'" 1 "" "hslabctl: stores takes a CACHE, or nothing for all stores"
	run traces "$name"
	says "traces '$name'" 1 "" "hslabctl: traces takes one CACHE"
	run detach "$name"
	says "detach '$name'" 1 "" "hslabctl: '$name' is not attached"
done

# What cannot be written is told of.
for words in list "list --json" "show provoke" --help --version "set --help" faults "faults -f" \
	"top -b" prometheus "save -"; do
	is "$words >/dev/full" \
		"$(timeout 60 $ctl --root "$dir/tree" $words 2>&1 >/dev/full </dev/null; echo "status $?")" \
		"hslabctl: cannot write the output
status 2"
done

STATUS=0
ERR=$($ctl --root "$dir/none" list 2>&1) || STATUS=$?
is "no hslab" "$STATUS:$ERR" "3:hslabctl: no hslab in $dir/none/sys/kernel/hslab: is the module loaded?"

# Whatever is in a configuration, it is told of, with a status of its own.
i=0 odd=
while [ $i -lt 40 ]; do
	i=$((i + 1))
	awk -v seed=$i 'BEGIN { srand(seed)
		split("provoke|attach |*|=|zero|merge=|group=|0x|profile=|fast|#|[|\\|,|\t|\n| |999999999999|-", w, "|")
		for (n = 0; n < 60; n++) printf "%s", w[1 + int(rand() * 19)] }' >"$dir/fuzz.conf"
	run check-config "$dir/fuzz.conf"
	[ "$STATUS" -le 1 ] || odd="$odd $i:$STATUS"
done
is "40 random configurations" "$odd" ""
ktap_end
