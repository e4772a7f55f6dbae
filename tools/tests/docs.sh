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
	"$(sed -n 's/^\.It Cm \([a-z-]*\).*/\1/p' "$tools/man/hslabctl.8" | sort -u)" "$commands"
is "hslab.conf(5) has each key" \
	"$(sed -n 's/^\.It Ic //p' "$tools/man/hslab.conf.5" | sort | tr '\n' ' ')" \
	"$(cd "$HSLABCTL_SYSFS/defaults" && printf '%s\n' * profile | sort | tr '\n' ' ')"
is "hslab.conf(5) has each key of attach lines, and what it takes" \
	"$(sed -n '/^\.It Cm /{s///;N;s/\n/ /;p}' "$tools/man/hslab.conf.5")" \
	"$(echo 'attach x =' | hslabctl check-config - 2>&1 | sed 's/.* one of //' | tr -d ' ' |
		tr ',' '\n' | while read -r key; do
			echo "attach x $key=" | hslabctl check-config - 2>&1 |
				sed "s/.*, expected /$key /"
		done)"
# What is told of the module is what it has.
is "hslab(4) has each parameter" \
	"$(sed -n 's/^\.It Cm //p' "$tools/man/hslab.4" | sort)" \
	"$(sed -n 's/^MODULE_PARM_DESC(\([a-z_]*\),.*/\1/p' "$tools"/../hslab_*.c | sort)"
is "hslab(4) has each policy" \
	"$(sed -n '/^\.Sh POLICIES/,/^\.Sh ATTACHING/s/^\.It Ic //p' "$tools/man/hslab.4" | sort)" \
	"$(cd "$HSLABCTL_SYSFS/defaults" && printf '%s\n' * profile | sort)"
is "hslab(4) has each profile" \
	"$(sed -n '/^\.It off Ta/,/^\.El/s/^\.It //p' "$tools/man/hslab.4" | sed 's/ Ta / /g')" \
	"$(sed -n '/^.*off.* any  /,/^=/s/^\(``\)\([a-z]*\)\1/\2/p' "$tools/../Documentation/policies.rst" | tr -s ' ')"
lacking=
while read -r file; do
	grep -q -w -e "$file" "$tools/man/hslab.4" || lacking="$lacking $file"
done < <(sed -n '/stats\//d; s/^What:.*\/\([a-z_]*\)$/\1/p' \
	"$tools"/../Documentation/ABI/testing/*hslab)
is "hslab(4) has each file" "$lacking" ""

# shellcheck source=../completion/hslabctl.bash
. "$tools/completion/hslabctl.bash"
is "complete a command" "$(complete_words hslabctl s)" "show set stores sweep scrub seal save"
is "complete a cache" "$(complete_words hslabctl show prov)" "provoke-b provoke"
is "complete a key" "$(complete_words hslabctl set provoke poi)" "poison= poison_typesafe="
is "complete a profile" "$(complete_words hslabctl profile all pa)" "paranoid"
is "complete a key of attaching" "$(complete_words hslabctl attach cred m)" "mode="
is "complete a key of what is attached" \
	"$(complete_words hslabctl attached set dentry q)" "quarantine_kb="
is "complete set" "$(complete_words hslabctl attached s)" "set"
is "complete an option" "$(complete_words hslabctl apply -)" "--cache"
is "complete the cache of --cache" "$(complete_words hslabctl apply --cache h)" "hslab-64"
is "complete a file" "$(cd "$tools" && complete_words hslabctl apply ma)" "man"
is "complete the option of prometheus" "$(complete_words hslabctl prometheus '')" "-o"
is "complete its file" "$(cd "$tools" && complete_words hslabctl prometheus -o ma)" "man"
is "complete the option of report, and its file" \
	"$(cd "$tools" && complete_words hslabctl report '' && complete_words hslabctl report -o ma)" \
	"-o
man"

if ! command -v zsh >/dev/null; then
	skip "completion of zsh" "there is no zsh here"
	ktap_end
fi
# offer WORD...: the same of zsh, whose compadd and _files are put in place here.
offer()
{
	zsh -f -c 'functions[_hslabctl]=$(<$1)
		compadd()
		{
			local -a all=("${@[$@[(i)--] + 1,-1]}")
			print -r -- ${(M)all:#${words[-1]}*}
		}
		_files() { print files }
		shift
		words=("$@") CURRENT=$#
		_hslabctl' zsh "$tools/completion/_hslabctl" "$@"
}
is "zsh: syntax" "$(zsh -n "$tools/completion/_hslabctl" 2>&1)" ""
is "zsh: complete a command" "$(offer hslabctl s)" "show set stores sweep scrub seal save"
is "zsh: complete a cache" "$(offer hslabctl show prov)" "provoke provoke-b"
is "zsh: complete a key" "$(offer hslabctl set provoke poi)" "poison= poison_typesafe="
is "zsh: complete a profile" "$(offer hslabctl profile all pa)" "paranoid"
is "zsh: complete a key of attaching" "$(offer hslabctl attach cred m)" "mode="
is "zsh: complete a key of what is attached" \
	"$(offer hslabctl attached set dentry q)" "quarantine_kb="
is "zsh: complete an option" "$(offer hslabctl apply -)" "--cache"
is "zsh: complete the cache of --cache" "$(offer hslabctl apply --cache h)" "hslab-64"
is "zsh: complete a file" "$(offer hslabctl apply ma)" "files"
is "zsh: complete the option of prometheus" "$(offer hslabctl prometheus '')" "-o"
is "zsh: complete its file" "$(offer hslabctl prometheus -o ma)" "files"
is "zsh: complete the option of report, and its file" \
	"$(offer hslabctl report -; offer hslabctl report -o ma)" "-o
files"
ktap_end
