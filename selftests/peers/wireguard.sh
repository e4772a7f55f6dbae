#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# wireguard: a tunnel, peers that come and go, and caches that may share slots.
#
# usage: wireguard.sh [many slub|PROFILE COMMAND ...]
#
# With "many" there is no test: COMMAND is run while there are many peers.
# shellcheck disable=SC2086 # lists
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/net.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/wg.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/memory.sh"

NODE=allowedips_node PEER=wg_peer
ENTRY=ratelimiter_entry		# made with the first device, destroyed with the last
ALL="$NODE $PEER $ENTRY"
A=10.1.0.1 B=10.1.0.2

# pair: a tunnel, from a device in a to one in b
pair()
{
	wg_make a wg && wg_make b wg && net_up b wg $B && wg_catch $A/32 &&
		net_up a wg $A && join_a && join_b
}

join_a()
{
	wg_join a b 10.0.0.2:$WG_PORT $B/32
}

join_b()
{
	wg_join b a 10.0.0.1:$WG_PORT $A/32
}

# again NAMESPACE OTHER: its peer is removed, and comes again
again()
{
	ip netns exec "$1" wg set wg peer "$(cat "/tmp/$2.pub")" remove
	"join_$1" || not_ok "remove a peer that is spoken to"
}

# unpair: no tunnel
unpair()
{
	ip -n a link del wg
	ip -n b link del wg
}

# live_is CACHE N: so many objects are allocated now
live_is()
{
	stat_of "$1" live
	[ "$VALUE" -eq "$2" ]
}

# entries: has the limiter of handshakes had any?
entries()
{
	stat_of $ENTRY allocs
	[ "$VALUE" -gt 0 ]
}

# limited: have a limit handshakes. Of a flood of them most get a cookie for an answer;
# b's second one, 5 seconds after its first, comes with that.
limited()
{
	wg_flood
	within 10000 wg_flooded || not_ok "the flood gets cookies"
	for _ in 1 2 3; do
		again b a
		in_b ping -c 1 -W 1 $A >/dev/null
		! within 7000 entries || break
	done
	rm /tmp/flooding
	entries
}

set_all()
{
	for cache in $ALL; do
		set_policy "$cache" "$@"
	done
}

# stores: the caches of one store joined by +, stores separated by blanks, in VALUE
stores()
{
	VALUE=$(for cache in $ALL; do
		get "$CACHES/$cache/store"
		tr ' ' '\n' <"$SYS/stores/$VALUE/caches" | sort | paste -sd + -
	done | sort -u | paste -sd ' ' -)
}

stores_are()
{
	stores
	[ "$VALUE" = "$1" ]
}

# leaked: has one entry, and is it said who allocated it?
leaked()
{
	log_since | grep -q "hslab: cache $ENTRY: destroyed with 1 of its objects live" &&
		log_since | grep -q "hslab:     wg_ratelimiter_allow+.*wireguard_hslab"
}

# What is written to the caches' policies while traffic goes on.
SETTINGS="profile=paranoid merge=any poison=0x6b quarantine_kb=0 track=0 merge=owner
	verify=head poison=random profile=off track=1 quarantine_kb=64 merge=never zero=0
	check=0 merge=group=net pin=0 profile=debug quarantine_kb=1024 poison=zero track=0
	check=1 scrub=1 merge=any zero=1 profile=balanced verify=full shrink=1 pin=64
	scrub_interval_ms=10 profile=fast poison=off track=1 quarantine_kb=16"

# toggle: until /tmp/toggling is removed; then /tmp/toggled has how many were written, and
# how many of these were refused
toggle()
{
	toggle_nr=0 toggle_refused=0
	while [ -e /tmp/toggling ]; do
		set -- $SETTINGS
		for setting; do
			shift
			for cache in $ALL; do
				put "$CACHES/$cache/${setting%%=*}" "${setting#*=}" ||
					toggle_refused=$((toggle_refused + 1))
				toggle_nr=$((toggle_nr + 1))
				setting=${1:-profile=off}	# the next cache is ahead
			done
		done
	done
	echo $toggle_nr $toggle_refused >/tmp/toggled
}

# merged WHAT STORES REASON: reason is what hslab says of the two caches of equal size
merged()
{
	within 10000 stores_are "$2"
	stores
	is "$1: stores" "$VALUE" "$2"
	is "$1: $NODE and $ENTRY" "$(sed -n "s/^$ENTRY: //p" $DBG/caches/$NODE/merge)" "$3"
	is "$1: and the other way" "$(sed -n "s/^$NODE: //p" $DBG/caches/$ENTRY/merge)" "$3"
	is "$1: $NODE and $PEER" "$(sed -n "s/^$PEER: //p" $DBG/caches/$NODE/merge)" \
		"${4-object size differs}"
}

# come_and_go: peers and their addresses do, the peer that is spoken to as well
come_and_go()
{
	wg_many many 100 20 || not_ok "make a device of 100 peers"
	wg_nodes 100 20
	nodes=$((VALUE + 2))	# and one at each end of the tunnel
	stat_of $NODE live
	is "nodes for 100 peers with 20 addresses" "$VALUE" $nodes
	stat_of $PEER live
	is "peers" "$VALUE" 102
	again a b
	sed -n 's/^PublicKey = \(.*\)/peer \1 remove/p' /tmp/conf | head -n 50 |
		xargs wg set many || not_ok "remove 50 peers"
	ip link del many
	succeeds "nodes go" within 5000 live_is $NODE 2
	succeeds "peers go" within 5000 live_is $PEER 2
}

# many slub|PROFILE COMMAND...: do it while there is a device of 200 peers with 20 addresses
# each, by wireguard_slub.ko, or by that of hslab with a profile
many()
{
	case $1 in
	slub)
		WG_KIND=wireguard_slub PEER_MODULES=wireguard_slub
		insmod "$MODULES/wireguard_slub.ko" || not_ok "load wireguard_slub"
		;;
	*)
		peer_hslab "$1"
		peer_load wireguard
		;;
	esac
	shift
	succeeds "make 200 peers with 20 addresses" wg_many many 200 20
	succeeds "$*" "$@"
	ip link del many
}

ktap_begin
wg_needs
if [ "${1-}" = many ]; then
	shift
	many "$@"
	ktap_end
fi
if [ -n "${PEER_MEMORY-}" ]; then
	memory_begin wireguard
	# shellcheck disable=SC2034 # wg_many uses it
	WG_KIND=wireguard_$PEER_KIND
	for _ in 1 2 3; do
		succeeds "make 200 peers with 20 addresses" wg_many many 200 20
		sleep 1
		ip link del many
	done
	memory_end
fi

net_begin

peer_hslab paranoid track=1
peer_load wireguard
peer_caches wireguard
is "its caches are hslab's" "$VALUE" "$NODE $PEER"
succeeds "make a tunnel" pair
peer_caches wireguard
is "and one that comes with the first device" "$VALUE" "$NODE $ENTRY $PEER"
within 10000 net_answers $B || not_ok "the other end answers"
net_short 20 $B

net_stream $B --time 8 --parallel 2 --bidir
come_and_go
come_and_go
net_streamed "streams, while peers come and go"

succeeds "handshakes are limited" limited
succeeds "the tunnel is back" within 15000 net_answers $B
succeeds "the limiter's entries go" within 10000 live_is $ENTRY 0

# Two of the caches have objects of equal size.
apart="$NODE $ENTRY $PEER" together="$NODE+$ENTRY $PEER"
merged never "$apart" "merge policy differs" "merge policy differs"
net_stream $B --time 6 --parallel 2 --bidir
set_all merge=owner
merged owner "$together" shares
set_all merge=any
merged any "$together" shares
set_policy $ENTRY merge=owner
# The nodes of the tunnel were allocated before all this, and their store was the owner's.
merged "any and owner" "$NODE $together" "merge policy differs"
set_all merge=group=net
merged group=net "$together" shares
set_policy $ENTRY merge=group=other
merged "group=net and group=other" "$apart" "group differs"
set_all merge=any track=0
merged "any, not tracked" "$together" shares
set_policy $NODE track=1
merged "any, one is tracked" "$apart" "one is tracked"
set_all merge=never
merged "never again" "$apart" "merge policy differs" "merge policy differs"
net_streamed "streams, while stores are changed"

touch /tmp/toggling
toggle &
toggler=$!
net_stream $B --time 8 --parallel 2 --bidir
come_and_go
net_short 20 $B
come_and_go
net_streamed "streams, while policies are changed"
rm /tmp/toggling
wait $toggler
read -r nr refused </tmp/toggled
succeeds "policies were set $nr times" [ "$nr" -gt 100 ]
is "none was refused" "$refused" 0

peer_count $ALL
unpair
peer_unload wireguard

# found N COMMAND...: N violations are known after it. They are found in softirqs, and
# printed a moment after they were counted.
found()
{
	found_nr=$1
	shift
	"$@"
	within 10000 reported "$found_nr"
	sleep 0.5
}

# A node for 32 addresses is written to past its end, and entries of the limiter are freed
# as nodes, with which they share slots.
PLANTED=planted/
peer_hslab paranoid track=1 merge=any
peer_load wireguard
pair || not_ok "make a tunnel"
within 2000 stores_are "$together"
stores
is "merge=any from the start: stores" "$VALUE" "$together"
in_a wg set wg peer "$(cat /tmp/b.pub)" allowed-ips $B/32,10.2.0.0/27
quietly found 1 again a b
planted "written past its end" $NODE overflow 72
planted_by allocated wg_allowedips_insert_v4 wireguard_hslab
quietly found 2 limited
planted "freed to another cache" $NODE cross-cache-free
planted_by allocated wg_ratelimiter_allow wireguard_hslab
is "the cache that it is of" "$(last_report | sed -n 2p)" \
	"hslab:   it belongs to cache $ENTRY"
log_mark
unpair
unload wireguard_hslab
succeeds "the leak that it is, is told" within 10000 leaked
net_end
peer_end
