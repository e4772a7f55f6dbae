#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# hslabctl takes the policies and values that the kernel's tables have, and no others.
#
# usage: tools/tests/grammar.sh HSLABCTL
#
# What the kernel has is read from hslab_policy.c and hslab_attach.c.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/../../selftests/ktap.sh"

ctl=$1
top=$(cd "${0%/*}/../.." && pwd)
export LC_ALL=C

# number MACRO: what it is defined as
number()
{
	awk -v name="$1" '$1 == "#define" && $2 == name { print $3 }' \
		"$top/hslab_policy.c" "$top/hslab_attach.c"
}

# fields: NAME, a tab, and what it takes, of each entry of hslab_fields
fields()
{
	awk '$1 == "#define" && $3 ~ /^[0-9]+$/ { numbers[$2] = $3 }
		/hslab_fields\[HSLAB_NR_FIELDS\] = {/ { inside = 1; next }
		/^};/ { inside = 0 }
		inside { entry = entry $0 }
		inside && /^\t},/ {
			n = 0
			while (match(entry, /"[^"]*"|__stringify\([A-Z_]*\)/)) {
				word = substr(entry, RSTART, RLENGTH)
				entry = substr(entry, RSTART + RLENGTH)
				if (word ~ /^"/)
					word = substr(word, 2, length(word) - 2)
				else
					word = numbers[substr(word, 13, length(word) - 13)]
				printf "%s%s", word, n++ ? "" : "\t"
			}
			print ""
			entry = ""
		}' "$top/hslab_policy.c"
}

# attach_fields: the same of hslab_attach.c, from what it says of wrong values
attach_fields()
{
	sed -n 's/.*"%s: \([a-z_]*\) takes \(.*\)\\n".*/\1\t\2/p' "$top/hslab_attach.c" |
		sed "s/%d/$(number HSLAB_ATTACH_KB_MAX)/" | sort
}

# conf_attach KEY=VALUE: a line of hslab.conf
conf_attach()
{
	echo "attach x $1" | "$ctl" check-config -
}

# takes COMMAND...: what hslabctl says that it takes, in the form of fields
takes()
{
	local name
	"$@" '=' 2>&1 | sed -n 's/.*expected one of //p' | tr -d ' ' | tr ',' '\n' |
		while read -r name; do
			printf '%s\t' "$name"
			"$@" "$name=?" 2>&1 | sed 's/.*, expected //;t;s/.*, expected//'
		done
}

# takes_value KEY=VALUE: whether hslabctl does, of a cache
takes_value()
{
	echo "x $1" | "$ctl" check-config - 2>/dev/null
}

# attach_status WORD...: what hslabctl attach ends with for KEY=VALUE: 1, or 3 when it
# takes that, since there is no hslab
attach_status()
{
	local word
	for word; do
		"$ctl" --root /nonexistent attach x "$word" 2>/dev/null
		echo "$word $?"
	done
}

# names ARRAY FILE: the strings that an array has
names()
{
	sed -n "/ $1\[.*{\$/,/^};/s/.*\"\(.*\)\".*/\1/p" "$top/$2"
}

# listed STRINGS: as a sentence lists them
listed()
{
	echo "$1" | paste -s -d , | sed 's/,/, /g; s/\(.*\), /\1 or /'
}

# refused WORD...: those of KEY=VALUE that are not taken
refused()
{
	local word
	for word; do
		takes_value "$word" || echo "$word"
	done
}

# taken WORD...: those that are
taken()
{
	local word
	for word; do
		! takes_value "$word" || echo "$word"
	done
}

# words POLICY FUNCTION: what the function compares a value to
words()
{
	sed -n "/^static int $2(/,/^}/s/.*strcmp(value, \"\(.*\)\").*/$1=\1/p" \
		"$top/hslab_policy.c"
}

ktap_begin
is "the policies of a cache" "$(takes "$ctl" set x)" "$(fields)"
is "the policies of what is attached" "$(takes "$ctl" attach x | sort)" "$(attach_fields)"
is "hslab.conf has the same" "$(takes conf_attach | sort)" "$(attach_fields)"

profiles=$(sed -n 's/^\t{ "\([a-z]*\)", {.*/\1/p' "$top/hslab_policy.c")
# POLICY, and the names that the kernel has for its values
for row in "profile ${profiles//$'\n'/ }" \
	"zero $(names hslab_zero_names hslab_policy.c | tr '\n' ' ')" \
	"verify $(names hslab_verify_names hslab_policy.c | tr '\n' ' ')" \
	"on_violation $(names hslab_action_names hslab_policy.c | tr '\n' ' ')"; do
	read -r policy names <<<"$row"
	is "$policy says which names it takes" "$(listed "${names// /$'\n'}")" \
		"$(fields | sed -n "s/^$policy\t//p")"
	read -r -a values <<<"$names"
	is "the names of $policy" "$(refused "${values[@]/#/$policy=}")" ""
done
modes=$(names hslab_mode_names hslab_attach.c)
is "mode says which names it takes" "$(listed "$modes")" \
	"$(attach_fields | sed -n 's/^mode\t//p')"
mapfile -t modes <<<"$modes"
is "the names of mode" "$(attach_status "${modes[@]/#/mode=}")" \
	"$(printf 'mode=%s 3\n' "${modes[@]}")"

merge=$(words merge hslab_parse_merge)
poison=$(words poison hslab_parse_poison)
is "words of merge and poison are found" "$(echo "$merge" "$poison" | tr '\n' ' ')" \
	"merge=never merge=owner merge=any poison=off poison=random poison=zero "
# shellcheck disable=SC2086 # words
is "words of merge and poison" "$(refused $merge $poison)" ""

min=$(number HSLAB_INTERVAL_MIN) max=$(number HSLAB_INTERVAL_MAX)
quarantine=$(number HSLAB_QUARANTINE_MAX) pin=$(number HSLAB_PIN_MAX)
is "bounds" "$(refused scrub_interval_ms={0,"$min","$max"} quarantine_kb={0,"$quarantine"} \
	pin={0,"$pin"})" ""
is "beyond the bounds" "$(taken scrub_interval_ms={$((min - 1)),$((max + 1))} \
	quarantine_kb=$((quarantine + 1)) pin=$((pin + 1)))" ""
group=$(sed -n 's/^#define HSLAB_GROUP_LEN[[:space:]]*\([0-9]*\).*/\1/p' \
	"$top/hslab_internal.h" "$top/include/linux/hslab.h")
name=$(head -c $((group - 1)) /dev/zero | tr '\0' g)
is "the longest group" "$(refused "merge=group=$name")$(taken "merge=group=g$name")" ""
kb=$(number HSLAB_ATTACH_KB_MAX)
is "bounds of an attached quarantine" \
	"$(attach_status quarantine_kb={0,1,"$kb",$((kb + 1))} | tr '\n' ' ')" \
	"quarantine_kb=0 1 quarantine_kb=1 3 quarantine_kb=$kb 3 quarantine_kb=$((kb + 1)) 1 "
ktap_end
