# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# KTAP for the tests in this folder; for busybox's sh. A test sources lib.sh,
# which sources this, and ends with ktap_end. A test that ends in any other way
# has failed.
# shellcheck disable=SC2034 # what is used by others

KTAP_NR=0 KTAP_PASS=0 KTAP_FAIL=0 KTAP_SKIP=0 KTAP_ENDED=

ktap_begin()
{
	echo "KTAP version 1"
}

# ok NAME
ok()
{
	KTAP_NR=$((KTAP_NR + 1)) KTAP_PASS=$((KTAP_PASS + 1))
	echo "ok $KTAP_NR $1"
}

# not_ok NAME DIAGNOSTIC...
not_ok()
{
	KTAP_NR=$((KTAP_NR + 1)) KTAP_FAIL=$((KTAP_FAIL + 1))
	echo "not ok $KTAP_NR $1"
	shift
	for ktap_line; do
		echo "# $ktap_line"
	done
}

# skip NAME REASON
skip()
{
	KTAP_NR=$((KTAP_NR + 1)) KTAP_SKIP=$((KTAP_SKIP + 1))
	echo "ok $KTAP_NR $1 # SKIP $2"
}

# is NAME GOT EXPECTED
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "expected: $3" "got:      $2"
	fi
}

# is_not NAME GOT UNWANTED
is_not()
{
	if [ "$2" != "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "expected: anything but $3" "got:      $2"
	fi
}

# succeeds NAME COMMAND...
succeeds()
{
	ktap_name=$1
	shift
	if "$@"; then
		ok "$ktap_name"
	else
		not_ok "$ktap_name" "failed with $?: $*"
	fi
}

ktap_totals()
{
	echo "# Totals: pass:$KTAP_PASS fail:$KTAP_FAIL skip:$KTAP_SKIP"
}

# The number of cases is known only now; status 1 for a failure, 4 when all was skipped.
ktap_end()
{
	KTAP_ENDED=y
	echo "1..$KTAP_NR"
	ktap_totals
	[ "$KTAP_FAIL" -eq 0 ] || exit 1
	[ "$KTAP_PASS" -gt 0 ] || exit 4
	exit 0
}
