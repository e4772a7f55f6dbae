#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build for a kernel, boot it in QEMU and run the tests there.
#
# usage: selftests/host.sh KERNELDIR [TEST ...]
#
# KERNELDIR is a folder that scripts/kernel printed; TEST is a name that run.sh
# knows, or panic (in a boot of its own, as attach, attach-boot, attach-coverage,
# attach-torture, events, seal, lockdown and hslabctl are; hslabctl-attach has that of
# attach), or init (policies with init_on_alloc=0); all by default.
# perf and bpftrace go along for the test events, where this machine has them.
# HSLAB_TORTURE is for how many seconds the test torture runs, 60 by default; a quarter
# of it is for one part of attach-torture.
# Prints a KTAP document for each boot. The status is 0 if nothing failed.
set -eu -o pipefail
# shellcheck source-path=SCRIPTDIR source=../scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"

case ${1-} in
'' | -h | --help)
	usage "$0"
	[ $# -gt 0 ]
	exit
	;;
esac
kernel=$1
shift
panic='' init='' tests=() alone=()
[ $# -gt 0 ] || panic=y init=y alone=(attach attach-boot attach-coverage
	attach-torture events seal lockdown hslabctl)
for test; do
	case $test in
	panic)	panic=y ;;
	init)	init=y ;;
	attach | attach-boot | attach-coverage | attach-torture | events | seal | \
	lockdown | hslabctl | hslabctl-attach)
		alone+=("$test")
		;;
	*)	tests+=("$test") ;;
	esac
done

out=$("$TOP/scripts/build" "$kernel")
case " ${alone[*]-} " in
*" attach "* | *" hslabctl"*)
	make -s -C "$TOP" tools >&2
	PATH=$TOP/out/tools:$PATH
	;;
esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/hslab-selftests.XXXXXX")
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/hslab" "$dir/hslab/selftests"
cp "$out/hslab.ko" "$out"/selftests/modules/*.ko "$dir/hslab"
cp "$TOP"/selftests/*.sh "$dir/hslab/selftests"
cp -r "$TOP/Documentation/ABI/testing" "$dir/hslab/ABI"

failed=0
torture=${HSLAB_TORTURE:-60}	# seconds

# boot VM_ARG...: the guest is a small machine.
boot()
{
	"$TOP/scripts/vm" --smp 4 --mem 768 --put "$dir/hslab:/hslab" "$@" ||
		failed=1
}

# run TESTS VM_ARG...: what the tests print comes out of the guest as a file, since
# on the console the kernel's own lines would cut it up.
run()
{
	local list=$1
	shift
	rm -f "$dir/ktap"
	boot --quiet --get "/ktap:$dir/ktap" "$@" "$kernel" -- \
		"HSLAB_TORTURE=$torture sh /hslab/selftests/run.sh $list >/ktap 2>&1"
	cat "$dir/ktap" || failed=1
}

# The limits are for what hangs. Kernels with KASAN and lockdep, and a machine that
# has others to see to, take several times what it takes elsewhere.
if [ ${#tests[@]} -gt 0 ] || [ $# -eq 0 ]; then
	run "${tests[*]-}" --timeout $((900 + 3 * torture))
fi
if [ -n "$init" ]; then
	run policies --timeout 300 --append init_on_alloc=0
fi
for test in ${alone[@]+"${alone[@]}"}; do
	programs=()
	for program in perf bpftrace; do
		if [ "$test" = events ] && command -v "$program" >/dev/null; then
			programs+=(--mem 2048 --put-program "$program")
		fi
	done
	case $test in
	attach* | hslabctl-attach)	# its hooks change the kernel's code
		programs+=(--single --timeout $((600 + 3 * torture)))
		;;
	esac
	with=
	case $test in
	attach)
		with=hslabctl-attach
		programs+=(--put-program hslabctl)
		;;
	hslabctl-attach)
		programs+=(--put-program hslabctl)
		;;
	attach-boot)
		programs+=(--append
			'slub_debug=Z,attached-twin-a;U,attached-twin-b;F,attached-odd')
		;;
	attach-coverage)
		programs+=(--net --append "slab_nomerge slub_debug=F,cred,cred_jar,\
dentry,skbuff_head_cache,kmalloc-256,maple_node")
		;;
	hslabctl)
		programs+=(--put-program hslabctl
			--put "$TOP/tools/udev/90-hslab.rules")
		;;
	esac
	run "$test $with" --timeout 300 ${programs[@]+"${programs[@]}"}
done
if [ -n "$panic" ]; then
	boot --timeout 120 --expect-panic 'hslab: double-free in cache provoke$' \
		"$kernel" -- sh /hslab/selftests/panic.sh
fi
exit $failed
