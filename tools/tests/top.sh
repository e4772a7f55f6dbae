#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# hslabctl top: rates between two states of a recorded tree, and the screen.
#
# usage: tools/tests/top.sh HSLABCTL
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/../../selftests/ktap.sh"

ctl=$(cd "${1%/*}" && pwd)/${1##*/}
dir=$(mktemp -d)
trap 'tmux -S "$dir/tmux" kill-server 2>/dev/null; rm -rf "$dir"
	[ -n "$KTAP_ENDED" ] || echo "Bail out! ended early"' EXIT
cp -r "${0%/*}/trees/6.12" "$dir/tree"
caches=$dir/tree/sys/kernel/hslab/caches
export LC_ALL=C
shopt -s extglob

# screen_has NAME REGEX: wait until the screen has a line that matches.
screen_has()
{
	local i
	for i in {1..300}; do
		screen=$(tmux -S "$dir/tmux" capture-pane -p 2>/dev/null)
		grep -q -e "$2" <<<"$screen" && break
		sleep 0.1
	done
	succeeds "$1" grep -q -e "$2" <<<"$screen"
}

# names_are NAME LINES EXPECTED: wait until these lines of the screen begin with EXPECTED;
# it may be seen half drawn.
names_are()
{
	local i names
	for i in {1..300}; do
		screen=$(tmux -S "$dir/tmux" capture-pane -p 2>/dev/null)
		names=$(sed -n "$2s/ .*//p" <<<"$screen" | paste -s -d ' ')
		[ "$names" = "$3" ] && break
		sleep 0.1
	done
	is "$1" "$names" "$3"
}

keys()
{
	tmux -S "$dir/tmux" send-keys "$@"
}

ktap_begin

is "one look has no rates" "$("$ctl" --root "$dir/tree" top -b -n 1 --sort live)" \
	"caches 3, live 5, memory 1280, faults 1, by live
cache               allocs/s   frees/s     live     peak  memory    held faults
provoke                    -         -        5        6    1280       0      1
hslab-64                   -         -        0        0       0       0      0
provoke-b                  -         -        0        0       0       0      0"

# The counts of provoke-b are pipes, so that each look waits for what it is to see.
for count in allocs frees; do
	rm "$caches/provoke-b/stats/$count"
	mkfifo "$caches/provoke-b/stats/$count"
done
exec {out}< <("$ctl" --root "$dir/tree" top -b -n 2 -d 0.1 --filter 'prov*' 2>&1)
echo 1000 >"$caches/provoke-b/stats/allocs" &
echo 900 >"$caches/provoke-b/stats/frees" &
wait %1 %2
for line in 1 2 3 4; do
	read -r -u $out line
done
is "the first look" "${line//+( )/ }" "provoke-b - - 0 0 0 0 0"
echo 123456789 >"$caches/provoke-b/stats/live"
echo 5368709120 >"$caches/provoke-b/stats/payload_bytes"
echo 6000 >"$caches/provoke-b/stats/allocs" &
echo 899 >"$caches/provoke-b/stats/frees" &
wait %1 %2
mapfile -t -u $out lines
exec {out}<&-
[[ ${lines[1]} =~ over\ ([0-9]+)\.([0-9]+)\ s$ ]]
ms=$((10#${BASH_REMATCH[1]:-0} * 1000 + 10#${BASH_REMATCH[2]:-0}))
succeeds "the rates are over 100 ms or more" [ "$ms" -ge 100 ]
is "the rates" "${lines[3]//+( )/ }" \
	"provoke-b $((5000 * 1000 / (ms ? ms : 1))) - 123.5M 0 5.0G 0 0"
is "the summary" "${lines[1]%, over*}" \
	"caches 2, live 123456794, memory 5.0G, faults 1, by allocs/s"
for count in allocs frees; do
	rm "$caches/provoke-b/stats/$count"
	echo 7 >"$caches/provoke-b/stats/$count"
done

for bad in '-d 0' '-d x' '-d 1e99' '-n 0' '-n 1x' '--sort liv' 'provoke'; do
	# shellcheck disable=SC2086 # words
	"$ctl" --root "$dir/tree" top -b $bad >"$dir/out" 2>"$dir/err"
	is "top $bad is refused" "$?:$(cat "$dir/out")" "1:"
done
is "a wrong column" "$("$ctl" --root "$dir/tree" top --sort liv 2>&1)" \
	"hslabctl: top: unknown column 'liv'; did you mean 'live'?"
is "no terminal" "$("$ctl" --root "$dir/tree" top 2>&1 </dev/null; echo "status $?")" \
	"hslabctl: top: no terminal; did you mean top -b?
status 1"
mv "$caches/provoke/stats" "$dir/stats"
is "a cache that goes has no counts" \
	"$("$ctl" --root "$dir/tree" top -b -n 1 --filter 'prov*' 2>&1 | sed -n 3p | tr -s ' '
		echo "status ${PIPESTATUS[0]}")" "provoke - - - - - - -
status 0"
mv "$dir/stats" "$caches/provoke/stats"

if ! command -v tmux >/dev/null; then
	skip "the screen" "there is no tmux here"
	ktap_end
fi
echo 5 >"$caches/provoke-b/stats/live"
cp -r "$caches/provoke-b" "$caches/a-name-that-is-longer-than-its-column"
for i in {10..39}; do
	cp -r "$caches/hslab-64" "$caches/z$i"
done
tmux -S "$dir/tmux" -f /dev/null new-session -d -x 80 -y 24 \
	"'$ctl' --root '$dir/tree' top -d 3600 --sort cache; echo \"status \$?\"; sleep 3600"
screen_has "80x24: the last line" '^sort: .* q: end$'
is "80x24: a long name is cut" "$(sed -n 3p <<<"$screen")" \
	"a-name-that-is-long         -         -        5        0    5.0G       0      0"
is "80x24: the headings" "$(sed -n 2p <<<"$screen")" \
	"cache                allocs/s   frees/s     live     peak  memory    held faults"
is "80x24: all lines are used" "$(sed -n 23p <<<"$screen" | cut -d ' ' -f 1)" z26
keys v
screen_has "key v" ', by faults'
names_are "by faults" 3,5 "provoke a-name-that-is-long hslab-64"
keys c NPage
screen_has "a page down" '^z39 '
names_are "the last caches" 3,23 "$(echo z{19..39})"
keys Home
screen_has "back to the first" '^a-name'
echo 77 >"$caches/z11/stats/peak"
keys p Space
screen_has "space reads the counts" '^z11 .* 77 '
names_are "by peak" 3,5 "z11 provoke a-name-that-is-long"
succeeds "what it says of the time" grep -q ', by peak, over [0-9]*\.[0-9]* s' <<<"$screen"
tmux -S "$dir/tmux" resize-window -x 100 -y 10
screen_has "100x10: the name has room" '^a-name-that-is-longer-than-its-column  *0 '
keys q
screen_has "q ends it" '^status 0$'

for terminal in dumb nosuch; do
	said=$(TERM=$terminal script -qec "'$ctl' --root '$dir/tree' top" /dev/null </dev/null |
		grep -a -o 'hslabctl: .*top -b?')
	case $terminal in
	dumb)	why="terminal 'dumb' cannot place text" ;;
	*)	why="unknown terminal '$terminal'" ;;
	esac
	is "TERM=$terminal" "$said" "hslabctl: top: $why; did you mean top -b?"
done
ktap_end
