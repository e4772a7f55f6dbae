# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Helpers shared by the scripts in this folder.
#
# usage: . "$(dirname "$0")/lib.sh"
#
# Sets TOP (the project's folder), PROG (the script's name) and HSLAB_CACHE
# (kernels, sources and logs; nothing in it is precious).

# A failure inside $(...) stops the script too.
shopt -s inherit_errexit

# shellcheck disable=SC2034 # used by the scripts that source this
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROG=${0##*/}
HOME=${HOME:-~}
# Where depmod and mkfs are; a user's PATH has it not.
PATH=$PATH:/usr/sbin:/sbin
HSLAB_CACHE=${HSLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hslab}

# Exit status of die(); a script whose status carries meaning picks its own.
DIE_STATUS=1

say()
{
	printf '%s: %s\n' "$PROG" "$*" >&2
}

die()
{
	say "error: $*"
	exit "$DIE_STATUS"
}

# usage PATH: print the comment at the top of the script PATH.
usage()
{
	sed -n '/^# usage:/,/^[^#]/ { s/^# \{0,1\}//p }' "$1"
}

# as_root COMMAND...: run it as root, by sudo where we are not.
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root or sudo: $*"
	fi
}

# need COMMAND GROUP: stop with advice when COMMAND is not installed.
need()
{
	command -v "$1" >/dev/null || die "$1 is missing; run: scripts/setup $2"
}

# tick MESSAGE LOG: say MESSAGE, the time and the last line of LOG until killed.
# A line that is written over on a terminal, else a line every 15 seconds.
tick()
{
	local start=$SECONDS every=15 end='\n' elapsed last

	if [ -t 2 ]; then
		every=1 end='\033[K\r'
	fi
	while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
		elapsed=$((SECONDS - start))
		[ $((elapsed % every)) -eq 0 ] || continue
		last=$(tail -n 1 "$2" 2>/dev/null | tr -d '\r' | cut -c 1-50)
		# shellcheck disable=SC2059 # the format ends as the terminal wants
		printf "%s: %s ... %d s  %s$end" "$PROG" "$1" "$elapsed" "$last" >&2
	done
}

# begin_ticking MESSAGE LOG: tick until end_ticking. Sets ticker.
begin_ticking()
{
	: >"$2"
	tick "$1" "$2" >&2 &
	ticker=$!
}

end_ticking()
{
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
}

# run_logged MESSAGE LOG COMMAND...: run COMMAND with its output in LOG and show
# progress. The tail of LOG is shown when it fails; its status is returned.
run_logged()
{
	local message=$1 log=$2 ticker start=$SECONDS rc=0

	shift 2
	mkdir -p "$(dirname "$log")"
	say "$message ..."
	begin_ticking "$message" "$log"
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	end_ticking
	if [ -t 2 ]; then
		printf '\033[K' >&2
	fi
	if [ "$rc" -ne 0 ]; then
		tail -n 30 "$log" >&2
		say "error: $message: failed with status $rc after $((SECONDS - start)) s; whole log: $log"
		return "$rc"
	fi
	say "$message: done in $((SECONDS - start)) s"
}

# lock NAME: hold a lock of this name until the script ends.
lock()
{
	local fd

	mkdir -p "$HSLAB_CACHE"
	exec {fd}>"$HSLAB_CACHE/.lock-$1"
	if ! flock -n "$fd"; then
		say "waiting for another run that holds the lock $HSLAB_CACHE/.lock-$1"
		flock "$fd"
	fi
}

# apt_update: bring apt's lists up to date.
apt_update()
{
	run_logged "apt-get update" "$HSLAB_CACHE/log/apt-update" \
		as_root apt-get update -q
}

# download FOLDER PACKAGE...: get the .debs there; retry with fresh lists, since
# old ones may name versions that the archive has dropped.
download()
{
	local folder=$1 what log=$HSLAB_CACHE/log/download

	shift
	what="downloading $*"
	run_logged "$what" "$log" fetch_debs "$folder" "$@" && return
	apt_update
	run_logged "$what" "$log" fetch_debs "$folder" "$@"
}

fetch_debs()
{
	(
		cd "$1" || exit
		shift
		exec apt-get download -q -o APT::Sandbox::User=root "$@"
	)
}

# unpack_debs FOLDER PACKAGE...: what is in them; nothing is installed.
unpack_debs()
{
	local folder=$1 deb

	shift
	mkdir "$folder/debs"
	download "$folder/debs" "$@"
	for deb in "$folder"/debs/*.deb; do
		dpkg -x "$deb" "$folder"
	done
	rm -r "$folder/debs"
}

# fresh_folder PATH: an empty folder, whatever an interrupted run left there.
fresh_folder()
{
	rm -rf "$1"
	mkdir -p "$1"
}
