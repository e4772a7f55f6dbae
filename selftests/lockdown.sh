#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# The kernel's lockdown, raised at run time, seals hslab. It cannot be lowered, so
# this needs a boot of its own; host.sh gives it one.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
LOCKDOWN=/sys/kernel/security/lockdown
P=$CACHES/provoke

if [ ! -w $LOCKDOWN ]; then
	skip "lockdown" "no $LOCKDOWN: the kernel has no lockdown, or securityfs is not mounted"
	ktap_end
fi
get $LOCKDOWN
case $VALUE in
"[none]"*) ;;
*)
	skip "lockdown" "the kernel is locked down already: $VALUE"
	ktap_end
	;;
esac

# asked: how often hslab asked lockdown and was told so, since log_mark
asked()
{
	log_since | grep -c '^Lockdown: .*: unsafe module parameters is restricted'
}

fresh hslab_provoke
succeeds "before, policies can be loosened" put $P/verify off
succeeds "and tightened" put $P/verify head
log_mark
echo integrity >$LOCKDOWN
get $LOCKDOWN
is "the kernel is locked down" "$VALUE" "none [integrity] confidentiality"
get $SYS/seal
is "hslab has not noticed" "$VALUE" 0

succeeds "tightening works" put $P/verify full
succeeds "so does writing the same" put $P/verify full
succeeds "and 0 to seal" put $SYS/seal 0
is "what is no value is that still" "$(tries $P/verify some)" "Invalid argument"
is "nothing of it asks lockdown" "$(asked)" 0
get $SYS/seal
is "nor seals" "$VALUE" 0

is "loosening is refused" "$(tries $P/verify head)" "Operation not permitted"
get $P/verify
is "and changes nothing" "$VALUE" full
is "lockdown was asked once" "$(asked)" 1
get $SYS/seal
is "hslab is sealed by that" "$VALUE" 1
is "and says why" "$(log_since | grep -c '^hslab: sealed until reboot (the kernel is locked down)')" 1

is "the defaults, too" "$(tries $SYS/defaults/merge any)" "Operation not permitted"
is "the profile of all, too" "$(tries $SYS/profile off)" "Operation not permitted"
is "purge, too" "$(tries $SYS/purge 1)" "Operation not permitted"
is "show_values, too" "$(tries /sys/module/hslab/parameters/show_values 1)" \
	"Operation not permitted"
refused=$(tries $SYS/attach kmalloc-256)
is "attaching is refused" "$refused: $(log_since | tail -n 1 | sed 's/^hslab: //')" \
	"Operation not permitted: attach: the kernel is locked down"
is "and nothing is attached" "$(ls $SYS/attached)" ""
is "for which lockdown is asked" "$(asked)" 2
is "and not again" "$(asked)" 2
get $P/merge
is "nothing has changed" "$VALUE" never

# insmod of what is not signed is refused from now on.
succeeds "a consumer may go" rmmod hslab_provoke
is "hslab may not" "$(rmmod hslab 2>&1 | sed 's/.*: //')" \
	"Resource temporarily unavailable"
succeeds "hslab is there" loaded hslab
unload()
{
	:
}
ktap_end
