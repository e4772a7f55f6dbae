# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of attaching share; after lib.sh.
# shellcheck disable=SC2034,SC2086 # VALUE is used by others; no path here has blanks
ATTACH=$SYS/attach
ATTACHED=$SYS/attached
ATTACHED_DBG=/sys/kernel/debug/hslab_attached

# attached WORD...: have hslab_attached do it; its answer is in VALUE.
attached()
{
	put $ATTACHED_DBG/run "$*" || {
		not_ok "attached $*" "refused"
		return 1
	}
	get $ATTACHED_DBG/result
}

# said: what hslab had to say since log_mark; without numbers behind functions' names
said()
{
	log_since | sed -n 's/+0x[0-9a-f]*\/0x[0-9a-f]*//; s/^hslab: //p'
}

# hooks: the functions that are hooked for what is attached
hooks()
{
	sed -n 's/^\(_*k[a-z_]*free[a-z_]*\|kmem_cache_destroy\) .*/\1/p' \
		/sys/kernel/tracing/enabled_functions | sort | tr '\n' ' ' | sed 's/ $//'
}

# refuses NAME CACHE WHY LOG: it is not attached to
refuses()
{
	refuses_before=$(ls $ATTACHED; hooks)
	log_mark
	refuses_why=$(tries $ATTACH "$2")
	is "refused: $1" "$refuses_why: $(said)" "$3: $4"
	is "refused: $1: nothing is changed" "$(ls $ATTACHED; hooks)" "$refuses_before"
}

# bad_value FILE VALUE LOG: of the victim; is refused, and the file is as before
bad_value()
{
	bad_value_before=$(values $V mode quarantine_kb poison track)
	log_mark
	bad_value_why=$(tries $V/$1 "$2")
	is "$1 takes no '$2'" "$bad_value_why: $(said)" \
		"Invalid argument: attached-victim: $3"
	is "$1 takes no '$2': nothing is changed" \
		"$(values $V mode quarantine_kb poison track)" "$bad_value_before"
}

# counts_before [CACHE]: counts are taken from now on
counts_before()
{
	counts_cache=$ATTACHED/${1:-attached-victim}
	for counts_name in frees bulk filled kfence astray aside held swept; do
		get $counts_cache/stats/$counts_name
		eval "counts_$counts_name=$VALUE"
	done
}

# counts NAME...: what was counted since then, in a line
counts()
{
	counts_all=
	for counts_name; do
		get $counts_cache/stats/$counts_name
		eval "VALUE=\$((VALUE - counts_$counts_name))"
		counts_all="$counts_all${counts_all:+ }$VALUE"
	done
	echo "$counts_all"
}
