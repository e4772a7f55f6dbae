#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# hslabctl with a real hslab: each command once. It seals, so this needs a boot of its
# own; host.sh gives it one, and the program.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
TMP=/tmp/hslabctl
CONF=/etc/hslab/hslabctl-test.conf
RULES=${0%/*}/../90-hslab.rules
restore()
{
	[ -z "$listener" ] || kill $listener
	[ -z "$follower" ] || kill $follower
	rm -f $TMP.* $CONF
}
listener='' follower=''

# ctl ARG...: its output and its status, in VALUE
ctl()
{
	VALUE=$(hslabctl "$@" 2>&1 </dev/null; echo "status $?")
}

# row GREP_ARG...: the lines of the last output that match
row()
{
	echo "$VALUE" | grep "$@"
}

if ! command -v hslabctl >/dev/null; then
	skip "hslabctl" "there is no hslabctl here"
	ktap_end
fi
ctl list
is "no hslab" "$VALUE" "hslabctl: no hslab in /sys/kernel/hslab: is the module loaded?
status 3"
fresh hslab_provoke
ctl list --filter provoke --columns cache,size,profile,live,faults
is "list" "$VALUE" "cache   size profile  live faults
provoke  200 balanced    0      0
status 0"
ctl top -b -n 1 --filter provoke
is "top" "$(row '^provoke ' | tr -s ' ')" "provoke - - 0 0 0 0 0"
ctl set 'provoke-[bo]*' verify=full pin=3
is "set" "$VALUE" "status 0"
get $CACHES/provoke-odd/verify
is "provoke-odd: verify" "$VALUE" full
get $CACHES/provoke-b/pin
is "provoke-b: pin" "$VALUE" 3
ctl show provoke-b
is "show" "$(row '^  pin ')" "  pin                    3"
ctl profile provoke-b debug
get $CACHES/provoke-b/profile
is "profile of a cache" "$VALUE" debug
ctl set provoke track=1
hslabctl list --json >$TMP.a
provoke hold provoke 3
hslabctl list --json >$TMP.b
ctl diff $TMP.a $TMP.b
is "diff" "$(row -e '^provoke live ' -e '^hslabctl')" "provoke live 0 -> 3 (+3)"
ctl traces provoke
is "traces" "$(row ' provoke_hold+' | head -n 1 | awk '{ print $1 }')" 3
ctl stores provoke-b
is "stores of a cache" "$(row '^provoke-m1:')" "provoke-m1: merge policy differs"
ctl stores
is "stores" "$(row '^  provoke-m[12]:')" "  provoke-m1: 0 live
  provoke-m2: 0 live"
quietly provoke double-free
ctl faults
is "faults" "$(row '^BUG' | sed 's/, object.*//')" "BUG: hslab: double-free in cache provoke"
hslabctl faults -f >$TMP.followed 2>&1 &
follower=$!
# followed: it has printed all
followed()
{
	cmp -s $TMP.followed $DBG/faults
}
succeeds "faults -f: those that are there" within 30000 followed
quietly provoke invalid-free-inside
succeeds "faults -f: those that come" within 30000 followed
is "faults -f prints all" "$(sed -n 's/, object.*//; /^BUG/p' $TMP.followed)" \
	"BUG: hslab: double-free in cache provoke
BUG: hslab: invalid-free in cache provoke"
kill $follower
follower=''
ctl top -b -n 2 -d 0.1 --filter provoke
is "top: counts and rates" "$(row '^provoke ' | tr -s ' ')" "provoke - - 3 4 768 0 2
provoke 0 0 3 4 768 0 2"
ctl report -o $TMP.html
is "report" "$VALUE" "status 0"
is "report names the violations, and has their text" \
	"$(grep -o -e '<b>[^<]*</b> in cache <b>[^<]*</b></summary><pre>BUG: hslab: [^,]*' $TMP.html)" \
	"<b>invalid-free</b> in cache <b>provoke</b></summary><pre>BUG: hslab: invalid-free in cache provoke
<b>double-free</b> in cache <b>provoke</b></summary><pre>BUG: hslab: double-free in cache provoke"
is "report has a number of live objects" \
	"$(sed -n 's,.*<th scope="row">provoke</th><td><data value="\([0-9]*\)".*,\1,p' $TMP.html)" 3
provoke release provoke
ctl save $TMP.conf
is "save" "$VALUE" "status 0"
ctl profile paranoid
get $SYS/profile
is "profile of all" "$VALUE" paranoid
stat_of provoke-b scrubs
before=$VALUE
ctl scrub provoke-b
stat_of provoke-b scrubs
succeeds "scrub" [ "$VALUE" -gt "$before" ]
ctl purge
is "purge" "$VALUE" "status 0"
ctl check-config $TMP.conf
is "check-config" "$VALUE" "status 0"
ctl apply $TMP.conf
is "apply" "$VALUE" "status 0"
ctl save $TMP.again
succeeds "all is as it was saved" cmp $TMP.conf $TMP.again

# A rule holds for the first object.
ctl rules set 'leaks track=1' 'leak* merge=owner'
is "rules set" "$VALUE" "status 0"
ctl rules
is "rules" "$VALUE" "leaks track=1
leak* merge=owner
status 0"
insmod "$MODULES/hslab_leaks.ko" early=5
ctl traces leaks
is "a rule holds for the first object" "$(row ' leaks_early+' | head -n 1 | awk '{ print $1 }')" 5
echo home >/sys/kernel/debug/hslab_leaks/run
rmmod hslab_leaks
ctl rules clear
is "rules clear" "$VALUE$(cat $SYS/rules)" "status 0"

#
# WHO IS NOT ROOT
#
# by_nobody ARG...: as ctl, but not by root
by_nobody()
{
	VALUE=$(su -s /bin/sh nobody -c "exec hslabctl $*" 2>&1 </dev/null; echo "status $?")
}

# denied FILE ARG...: a command that needs more than nobody may do
denied()
{
	denied_file=$1
	shift
	by_nobody "$@"
	is "not root: $*" "$VALUE" "hslabctl: $denied_file
status 2"
}

grep -q '^nobody:' /etc/passwd 2>/dev/null ||
	echo 'nobody:x:65534:65534:nobody:/:/bin/sh' >>/etc/passwd
counts="hslabctl: counts are for root alone, and are left out"
by_nobody list --filter provoke-b --columns cache,size,live,faults
is "not root: list" "$VALUE" "cache     size live faults
provoke-b  200    -      -
$counts
status 0"
by_nobody show provoke-b
is "not root: show" "$(row -A 9 '^  stats')" "  stats:
$counts
status 0"
by_nobody prometheus
is "not root: prometheus" "$VALUE" "hslabctl: prometheus: counts are for root alone
status 2"
by_nobody top -b -n 1
is "not root: top" "$VALUE" "hslabctl: top: counts are for root alone
status 2"
by_nobody report
is "not root: report" "$(row -e '^hslabctl' -e '^status')$(row -c 'only root may read that')" \
	"hslabctl: report: 4 parts are missing; the page says why
status 04"
by_nobody check-config $TMP.conf
is "not root: check-config" "$VALUE" "status 0"
by_nobody save -
is "not root: save" "$VALUE" "$(cat $TMP.conf)
status 0"
why="Permission denied: debugfs is for root alone"
denied "$DBG/stores: $why" stores
denied "$DBG/caches/provoke/merge: $why" stores provoke
denied "$DBG/faults: $why" faults
denied "$DBG/faults: $why" faults -f
denied "$DBG/caches/provoke/alloc_traces: $why" traces provoke
denied "$CACHES/provoke/check: '0' refused: Permission denied" set provoke check=0
denied "$SYS/profile: 'off' refused: Permission denied" profile off
denied "$CACHES/provoke/scrub: '1' refused: Permission denied" scrub provoke
denied "$SYS/purge: '1' refused: Permission denied" purge
denied "$SYS/seal: '1' refused: Permission denied" seal --yes
echo "provoke check=0" >$TMP.one
denied "$SYS/rules: 'provoke check=0' refused: Permission denied
hslabctl: $CACHES/provoke/check: '0' refused: Permission denied" apply $TMP.one
denied "/root/x.conf: Permission denied" save /root/x.conf

#
# THE RULE OF UDEV, for which busybox hears the uevents
#
# event, for ACTION, SUBSYSTEM and DEVPATH: do what the rule says, as udev would, and note it
if ! [ -e $RULES ] || ! command -v uevent >/dev/null; then
	skip "90-hslab.rules" "no $RULES here, or no uevent"
else
	cat >$TMP.event <<-'END'
		#!/bin/sh
		# the value of a key
		key()
		{
			sed -n "/^ACTION/s/.*$1[=!+]=*\"\([^\"]*\)\".*/\1/p" "$RULES"
		}
		# like STRING PATTERN
		like()
		{
			case $1 in
			$2)	;;
			*)	return 1 ;;
			esac
		}
		kernel=$(echo "${DEVPATH##*/}" | tr '!' /)
		if like "$ACTION" "$(key ACTION)" && like "$SUBSYSTEM" "$(key SUBSYSTEM)" &&
			like "$DEVPATH" "$(key DEVPATH)" &&
			! like "$kernel" "$(key KERNEL)"; then
			run=$(key RUN)
			run="${run%%%k*}$kernel${run#*%k}"
			eval "$run"
			echo "$run: $?" >>"$TMP.ran"
		fi
	END
	chmod +x $TMP.event
	export RULES TMP
	for path in caches attached stores; do
		ACTION=add SUBSYSTEM=hslab DEVPATH=/kernel/hslab/$path/no-such $TMP.event
	done >/dev/null 2>&1
	for name in "it's" 'a!b' "a b"; do
		ACTION=add SUBSYSTEM=hslab DEVPATH=/kernel/hslab/caches/$name $TMP.event
	done >/dev/null 2>&1
	ACTION=change SUBSYSTEM=hslab DEVPATH=/kernel/hslab/caches/provoke $TMP.event
	ACTION=add SUBSYSTEM=slab DEVPATH=/kernel/hslab/caches/provoke $TMP.event
	is "90-hslab.rules: which events it is for" "$(cat $TMP.ran)" \
		"/usr/sbin/hslabctl apply --cache 'no-such': 1
/usr/sbin/hslabctl apply --cache 'a b': 1"
	: >$TMP.ran
	unload hslab_provoke
	mkdir -p ${CONF%/*}
	echo 'provoke-[bo]* pin=5 verify=full' >$CONF
	uevent $TMP.event >$TMP.uevent 2>&1 &
	listener=$!
	# listening: to KOBJECT_UEVENT
	listening()
	{
		awk -v pid=$listener '$2 == 15 && $3 == pid { found = 1 } END { exit !found }' \
			/proc/net/netlink
	}
	within 30000 listening
	insmod $MODULES/hslab_provoke.ko
	for cache in "$CACHES"/provoke*; do
		echo "/usr/sbin/hslabctl apply --cache '${cache##*/}': 0"
	done >$TMP.expected
	# ran: it was run for each of them
	ran()
	{
		sort $TMP.ran | cmp -s - $TMP.expected
	}
	within 30000 ran
	is "90-hslab.rules: for each new cache" "$(sort $TMP.ran)" "$(cat $TMP.expected)"
	is "a new cache has its policy" \
		"$(cat $CACHES/provoke-b/pin $CACHES/provoke-odd/verify $CACHES/provoke/pin | tr '\n' ' ')" "5 full 0 "
	kill $listener
	listener=
	rm $CONF
fi

ctl seal --yes
is "seal" "$VALUE" "status 0"
ctl set provoke check=0
is "what the kernel says of a refusal" "$VALUE" \
	"hslabctl: /sys/kernel/hslab/caches/provoke/check: '0' refused: Operation not permitted
hslabctl: the kernel says: hslab: provoke: sealed, check=1 cannot be loosened
status 2"
unload()
{
	:
}
ktap_end
