#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Loading and unloading, again and again, with parameters, with live consumers.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ROUNDS=${HSLAB_ROUNDS:-20}

ktap_begin
unload_soon $TEST_MODULES hslab

# What hslab has left: nothing, in VALUE
leavings()
{
	VALUE=
	for path in $SYS $DBG /sys/module/hslab /sys/kernel/slab/hslab:*; do
		[ ! -e "$path" ] || VALUE="$VALUE $path"
	done
}

nothing_left()
{
	leavings
	[ -z "$VALUE" ]
}

bad=
i=0
now_ms
start=$VALUE
while [ $i -lt "$ROUNDS" ]; do
	i=$((i + 1))
	insmod "$MODULES/hslab.ko" || bad="$bad $i:insmod"
	if [ $i = 1 ]; then
		set -- /sys/kernel/slab/hslab:*
		is_not "slabs of hslab are in sysfs while it is loaded" "$1" \
			"/sys/kernel/slab/hslab:*"
	fi
	rmmod hslab || bad="$bad $i:rmmod"
	within 3000 nothing_left || bad="$bad $i:$VALUE"
done
now_ms
echo "# $ROUNDS rounds: $((VALUE - start)) ms"
is "$ROUNDS times loaded and unloaded, and nothing is left" "$bad" ""

# Consumers
fresh hslab_provoke
is "unload with a consumer is refused" "$(rmmod hslab 2>&1)" \
	"rmmod: can't unload module 'hslab': Resource temporarily unavailable"
set -- "$CACHES"/*
is_not "and nothing is gone" "$#" 1
rmmod hslab_provoke
set -- "$CACHES"/provoke*
is "a consumer's caches go with it" "$*" "$CACHES/provoke*"
succeeds "unload after the consumer" rmmod hslab
succeeds "nothing is left" within 3000 nothing_left

# A cache that is destroyed before its objects
fresh hslab_provoke
provoke orphan 5
set -- "$CACHES"/provoke-orphan*
is "a cache destroyed with live objects is gone from sysfs" "$*" \
	"$CACHES/provoke-orphan*"
orphans()
{
	set -- /sys/kernel/slab/hslab:*:provoke-orphan
	[ -e "$1" ]
}
no_orphans()
{
	! orphans
}
succeeds "its store stays" orphans
is "debugfs says so" \
	"$(grep -c '^  provoke-orphan: 5 live, cache destroyed$' $DBG/stores)" 1
no_faults "its objects can be freed" provoke orphan-free
succeeds "its store goes then" within 3000 no_orphans
provoke orphan 3
rmmod hslab_provoke
no_orphans || within 3000 no_orphans
succeeds "unload after another one" rmmod hslab
succeeds "nothing is left of that" within 3000 nothing_left

# Parameters
# defaults WORD...: those of sysfs, as POLICY=VALUE
defaults()
{
	got=
	for word; do
		get "$SYS/defaults/${word%%=*}"
		got="$got${got:+ }${word%%=*}=$VALUE"
	done
	is "parameters $*" "$got" "$*"
}

insmod "$MODULES/hslab.ko" merge=owner poison=0x6b zero=1 verify=full check=0 \
	quarantine_kb=64 pin=8 track=1 scrub_interval_ms=1000 poison_typesafe=1 \
	on_violation=warn
set_to="merge=owner poison=0x6b zero=1 verify=full check=0 quarantine_kb=64 pin=8 track=1"
set_to="$set_to scrub_interval_ms=1000 poison_typesafe=1 on_violation=warn"
defaults $set_to
got=
for policy in $POLICIES; do
	get "$CACHES/hslab-64/$policy"
	got="$got${got:+ }$policy=$VALUE"
done
is "hslab's own caches start with them" "$got" "$set_to"
rmmod hslab
for profile in off fast balanced debug paranoid; do
	insmod "$MODULES/hslab.ko" profile=$profile
	get $SYS/profile
	is "parameter profile=$profile" "$VALUE" $profile
	get $CACHES/hslab-64/profile
	is "profile=$profile: hslab-64" "$VALUE" $profile
	rmmod hslab
done
insmod "$MODULES/hslab.ko" profile=paranoid poison=zero
get $SYS/profile
is "a policy after the profile makes it custom" "$VALUE" custom
rmmod hslab
insmod "$MODULES/hslab.ko" merge=group=abc
get $SYS/defaults/merge
is "parameter merge=group=abc" "$VALUE" group=abc
rmmod hslab

for bad in profile=none profile= merge=all merge=group= poison=0x100 poison=6b \
	zero=2 verify=some check=2 check=yes quarantine_kb=-1 quarantine_kb=1048577 \
	quarantine_kb=1k pin=1048577 pin=x track=2 scrub_interval_ms=9 \
	scrub_interval_ms=86400001 poison_typesafe=2 on_violation=ignore; do
	said=$(insmod "$MODULES/hslab.ko" $bad 2>&1)
	is "a bad parameter $bad" "${said##*: }" "Invalid argument"
	nothing_left || {
		not_ok "nothing is left of that" "$VALUE"
		unload hslab
	}
done
insmod "$MODULES/hslab.ko"
get $SYS/profile
is "the default is balanced" "$VALUE" balanced
rmmod hslab
ktap_end
