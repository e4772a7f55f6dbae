#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The manual pages and the completion of hslabctl.
#
# usage: tools/tests/docs.sh HSLABCTL
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/../../selftests/ktap.sh"

tools=$(cd "${0%/*}/.." && pwd)
export LC_ALL=C
PATH=$(cd "${1%/*}" && pwd):$PATH
export HSLABCTL_SYSFS=$tools/tests/trees/6.12/sys/kernel/hslab

# complete_words WORD...: what is offered for the last of them.
complete_words()
{
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_hslabctl
	echo "${COMPREPLY[*]}"
}

ktap_begin
for page in "$tools"/man/*; do
	is "mandoc: ${page##*/}" "$(mandoc -T lint -W warning "$page" 2>&1)" ""
done
commands=$(hslabctl --help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | sort)
is "hslabctl(8) has each command" \
	"$(sed -n 's/^\.It Cm \([a-z-]*\).*/\1/p' "$tools/man/hslabctl.8" | sort)" "$commands"
is "hslab.conf(5) has each key" \
	"$(sed -n 's/^\.It Ic //p' "$tools/man/hslab.conf.5" | sort | tr '\n' ' ')" \
	"$(cd "$HSLABCTL_SYSFS/defaults" && printf '%s\n' * profile | sort | tr '\n' ' ')"

# shellcheck source=../completion/hslabctl.bash
. "$tools/completion/hslabctl.bash"
is "complete a command" "$(complete_words hslabctl s)" "show set stores scrub seal save"
is "complete a cache" "$(complete_words hslabctl show prov)" "provoke-b provoke"
is "complete a key" "$(complete_words hslabctl set provoke poi)" "poison= poison_typesafe="
is "complete a profile" "$(complete_words hslabctl profile all pa)" "paranoid"
is "complete a file" "$(cd "$tools" && complete_words hslabctl apply ma)" "man"
ktap_end
