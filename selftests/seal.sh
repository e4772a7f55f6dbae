#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317,SC3037 # no path here has blanks; called by name; busybox has echo -ne
# The seal: what loosens a policy is refused and changes nothing, what tightens it
# works, and the module stays. So this needs a boot of its own; host.sh gives it one.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
fresh hslab_provoke
P=$CACHES/provoke
D=$SYS/defaults
VALUES=/sys/module/hslab/parameters/show_values
SNAPSHOT=/tmp/seal.policies
restore()
{
	rm -f $SNAPSHOT $SNAPSHOT.now
}

# said COMMAND...: why it failed, or nothing
said()
{
	{ "$@"; } 2>&1 | sed 's/.*: //'
}

# policies: of all caches and of the defaults
policies()
{
	for place in $D "$CACHES"/*; do
		for policy in $POLICIES; do
			get "$place/$policy"
			echo "$place/$policy $VALUE"
		done
	done
}

# refuses NAME FILE VALUE...: each is refused, and nothing changes anywhere
refuses()
{
	name=$1 file=$2 bad=
	shift 2
	policies >$SNAPSHOT
	for value; do
		why=$(tries $file $value)
		[ "$why" = "Operation not permitted" ] || bad="$bad [$value: $why]"
	done
	policies >$SNAPSHOT.now
	cmp -s $SNAPSHOT $SNAPSHOT.now || bad="$bad; and policies have changed"
	is "$name" "$bad" ""
}

# takes FOLDER POLICY VALUE...: each in turn
takes()
{
	folder=$1 policy=$2 got=
	shift 2
	for value; do
		if put $folder/$policy "$value"; then
			get $folder/$policy
			got="$got${got:+ }$VALUE"
		else
			got="$got refused:$value"
		fi
	done
	is "${folder#"$SYS"/}/$policy: tighter, or the same, is taken" "$got" "$*"
}

#
# Not sealed
#
get $SYS/seal
is "not sealed at first" "$VALUE" 0
succeeds "0 may be written" put $SYS/seal 0
bad=
for value in 2 -1 01 00 11 true y ' 1' '1 ' '1\n\n' '1\0' '0\0'; do
	why=$({ echo -ne "$value" >$SYS/seal; } 2>&1)
	case $why in
	*"Invalid argument") ;;
	*)	bad="$bad [$value: $why]" ;;
	esac
done
is "seal refuses all but 0 and 1" "$bad" ""
get $SYS/seal
is "and is not sealed by that" "$VALUE" 0

for folder in $P $D; do
	put $folder/merge owner
	put $folder/poison 0x6b
	put $folder/verify head
	put $folder/check 0
	put $folder/quarantine_kb 64
	put $folder/pin 16
	put $folder/scrub_interval_ms 80000
	put $folder/on_violation warn
done
put $P/poison_typesafe 1
put $D/poison_typesafe 0
put $SYS/rules "none-* track=1; none-a pin=1"
succeeds "the defaults can be loosened" put $D/poison off
put $D/poison 0x6b
# All caches but the last could become paranoid.
insmod "$MODULES/hslab_load.ko"
put $CACHES/load-own/track 1
policies >$SNAPSHOT

#
# Sealed
#
log_mark
succeeds "it is sealed" put $SYS/seal 1
get $SYS/seal
is "and says so" "$VALUE" 1
is "so does the log" "$(log_since | grep -c '^hslab: sealed until reboot (told to)')" 1
is "it cannot be undone" "$(tries $SYS/seal 0)" "Operation not permitted"
succeeds "but done again" put $SYS/seal 1
get $SYS/seal
is "it is sealed still" "$VALUE" 1
policies >$SNAPSHOT.now
succeeds "no policy has changed" cmp -s $SNAPSHOT $SNAPSHOT.now

refuses "one cache is enough against the profile of all" $SYS/profile paranoid
rmmod hslab_load

for folder in $P $D; do
	what=${folder#"$SYS"/}
	refuses "$what/merge" $folder/merge any group=a
	refuses "$what/poison" $folder/poison off
	refuses "$what/zero" $folder/zero 0
	refuses "$what/verify" $folder/verify off
	refuses "$what/quarantine_kb" $folder/quarantine_kb 0 63
	refuses "$what/pin" $folder/pin 0 15
	refuses "$what/scrub_interval_ms" $folder/scrub_interval_ms 0 80001 86400000
	refuses "$what/on_violation" $folder/on_violation report
done
refuses "caches/provoke/poison_typesafe" $P/poison_typesafe 0
refuses "a profile that is looser in any policy" $P/profile off fast balanced debug
refuses "the profile of all" $SYS/profile off fast balanced debug
is "what is no value is that still" "$(tries $P/merge nobody)" "Invalid argument"
is "nor no profile" "$(tries $SYS/profile nothing)" "Invalid argument"

sleep 5	# the log is spared more than 10 such lines in 5 s
log_mark
tries $P/verify off >/dev/null
is "the log has the reason" "$(log_since | grep -c '^hslab: provoke: sealed, verify=head cannot be loosened')" 1

# A consumer is bound as well: this violation sets merge=any.
echo "hslab-test: expect-begin" >/dev/kmsg
is "hslab_set_policy() is refused" "$(tries $PROVOKE/run double-free-drained)" \
	"Operation not permitted"
echo "hslab-test: expect-end" >/dev/kmsg

# What is in quarantine stays there.
provoke hold provoke 40
provoke release provoke
stat_of provoke quarantined
before=$VALUE
is_not "there is a quarantine" "$before" 0
is "purge" "$(tries $SYS/purge 1)" "Operation not permitted"
is "shrink" "$(tries $P/shrink 1)" "Operation not permitted"
is "rules" "$(tries $SYS/rules 'none-* track=1') $(tries $SYS/rules '')" \
	"Operation not permitted Operation not permitted"
succeeds "but the same" put $SYS/rules "none-*  track=1
none-a pin=1;"
is "but not what is no 1" "$(tries $P/shrink 2) $(tries $SYS/purge 2)" \
	"Invalid argument Invalid argument"
stat_of provoke quarantined
is "all are in it still" "$VALUE" "$before"
succeeds "scrub" put $P/scrub 1

# Values of bytes
is "show_values cannot be set" "$(tries $VALUES 1)" "Operation not permitted"
get $VALUES
is "and is not" "$VALUE" N
succeeds "but reset" put $VALUES 0

#
# Tighter
#
for folder in $P $D; do
	takes $folder merge owner never
	takes $folder poison 0x01 0x6b zero random
	takes $folder zero auto 1
	takes $folder verify head full
	takes $folder check 1
	takes $folder quarantine_kb 64 65 256
	takes $folder pin 16 4096
	takes $folder scrub_interval_ms 80000 70000 60000
	takes $folder poison_typesafe 1
	takes $folder on_violation warn
	what=${folder#"$SYS"/}
	refuses "$what: and not back" $folder/merge any owner group=a
	refuses "$what: nor this" $folder/poison off zero 0x6b
	refuses "$what: nor this" $folder/zero 0 auto
	refuses "$what: nor this" $folder/check 0
	refuses "$what: nor this" $folder/poison_typesafe 0
done
get $P/profile
is "it is paranoid now" "$VALUE" paranoid
succeeds "so the profile may be written" put $P/profile paranoid
succeeds "and that of another cache" put $CACHES/provoke-b/profile paranoid
succeeds "and of all" put $SYS/profile paranoid
bad=
for cache in "$CACHES"/*; do
	get "$cache/profile"
	[ "$VALUE" = paranoid ] || bad="$bad ${cache##*/}=$VALUE"
done
is "which has come to all" "$bad" ""

takes $CACHES/provoke-m2 track 1
refuses "no profile tracks" $SYS/profile paranoid
refuses "track" $CACHES/provoke-m2/track 0
for folder in $P $D; do
	takes $folder on_violation kill panic
	refuses "${folder#"$SYS"/}: on_violation" $folder/on_violation kill warn report
done

#
# The module
#
succeeds "a consumer may go" rmmod hslab_provoke
is "hslab may not" "$(said rmmod hslab)" "Resource temporarily unavailable"
succeeds "hslab is there" loaded hslab
unload()
{
	:
}
ktap_end
