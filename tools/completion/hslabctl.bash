# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# bash completion for hslabctl; hslabctl itself says which commands there are.

_hslabctl_caches()
{
	local cache
	for cache in "${HSLABCTL_SYSFS:-/sys/kernel/hslab}"/caches/*/; do
		[ -d "$cache" ] && basename "$cache"
	done
}

_hslabctl_attached()
{
	hslabctl attached 2>/dev/null | cut -d ' ' -f 1
}

_hslabctl()
{
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} words=
	local keys="profile= merge= poison= zero= verify= check= quarantine_kb= pin=
		track= scrub_interval_ms= poison_typesafe= on_violation="
	local attach_keys="mode= poison= quarantine_kb= track= on_violation="
	local profiles="off fast balanced debug paranoid"

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words=$(hslabctl --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
		words="$words --help --version"
	else
		case $command:$COMP_CWORD in
		list:*)		words="--json --filter --sort --columns --help" ;;
		top:*)		words="-b -n -d --sort --filter --help" ;;
		set:2)		words="$(_hslabctl_caches) all defaults" ;;
		set:*)		words=$keys ;;
		profile:2)	words="$(_hslabctl_caches) all $profiles" ;;
		profile:3)	words=$profiles ;;
		scrub:2)	words="$(_hslabctl_caches) all" ;;
		show:2 | stores:2)
				words=$(_hslabctl_caches) ;;
		traces:2)	words="$(_hslabctl_caches) $(_hslabctl_attached)" ;;
		attach:2)	words=$(cd /sys/kernel/slab 2>/dev/null && echo *) ;;
		attach:* | attached:[4-9])
				words=$attach_keys ;;
		attached:2)	words="$(_hslabctl_attached) set" ;;
		detach:2 | sweep:2 | attached:3)
				words=$(_hslabctl_attached) ;;
		faults:2)	words="-f" ;;
		seal:2)		words="--yes" ;;
		rules:2)	words="set clear" ;;
		report:2)	words="-o" ;;
		apply:*)
			if [ "${COMP_WORDS[COMP_CWORD - 1]}" = --cache ]; then
				words=$(_hslabctl_caches)
			elif [[ $word == -* ]]; then
				words=--cache
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$word")
				return
			fi ;;
		prometheus:2)	words="-o" ;;
		diff:* | save:* | check-config:* | prometheus:3 | report:3)
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _hslabctl hslabctl
