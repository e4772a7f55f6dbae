# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# A tunnel of wireguard's between the namespaces of net.sh, and interfaces with many peers;
# whoever built the module.
#
# usage: . "${0%/*}/wg.sh", after net.sh
# shellcheck disable=SC2034,SC2317 # called and used by others
WG_PORT=51820
WG_KIND=wireguard_hslab		# of a device: the module's name

# wg_needs: load what the stock module needs, but not it
wg_needs()
{
	sed -n 's/^.*\/wireguard\.ko: *//p' "/lib/modules/$(uname -r)/modules.dep" |
		tr ' ' '\n' | sed 's|.*/||; s|\.ko.*||' >/tmp/needs
	while read -r wg_module; do
		modprobe "$wg_module" || not_ok "load $wg_module"
	done </tmp/needs
}

# wg_make NAMESPACE DEVICE: with a key of its own, whose other half is in /tmp/NAMESPACE.pub
wg_make()
{
	ip -n "$1" link add "$2" type $WG_KIND &&
		(umask 077 && wg genkey >"/tmp/$1.key") && wg pubkey <"/tmp/$1.key" >"/tmp/$1.pub" &&
		ip netns exec "$1" wg set "$2" private-key "/tmp/$1.key" \
			listen-port $WG_PORT
}

# wg_join NAMESPACE OTHER ENDPOINT ALLOWED: its device wg gets the other as a peer
wg_join()
{
	ip netns exec "$1" wg set wg peer "$(cat "/tmp/$2.pub")" endpoint "$3" \
		allowed-ips "$4"
}

# wg_catch ADDRESS: what b sends first when it wants to speak to that address of a tunnel
# goes to /tmp/init, and /tmp/flood gets a thousand of it. There is nothing yet in a that
# could answer; a socket that is connected to where b sends from reads it.
wg_catch()
{
	in_a bash -c "exec 3<>/dev/udp/10.0.0.2/$WG_PORT; head -c 148 <&3 >/tmp/init" &
	wg_reader=$!
	within 2000 wg_reads || return
	wg_join b a "10.0.0.1:$WG_READS" "$1" || return
	in_b ping -c 1 -W 1 "${1%/*}" >/dev/null
	wait $wg_reader
	for _ in 0 1 2 3 4 5 6 7 8 9; do
		cat /tmp/init /tmp/init /tmp/init /tmp/init /tmp/init
	done >/tmp/flood
	cat /tmp/flood /tmp/flood /tmp/flood /tmp/flood >/tmp/flood4
	cat /tmp/flood4 /tmp/flood4 /tmp/flood4 /tmp/flood4 /tmp/flood4 >/tmp/flood
	[ "$(wc -c </tmp/flood)" -eq 148000 ]
}

# wg_reads: the port of that socket, in WG_READS
wg_reads()
{
	# shellcheck disable=SC2016 # awk's
	wg_port=$(in_a awk 'NR == 2 { sub(/.*:/, "", $2); print $2 }' /proc/net/udp)
	WG_READS=$((0x${wg_port:-0}))
	[ $WG_READS -ne 0 ]
}

# wg_flood: send it from b, a thousand at a time, until /tmp/flooding is removed
wg_flood()
{
	touch /tmp/flooding
	in_b bash -c "exec 3>/dev/udp/10.0.0.1/$WG_PORT
		while [ -e /tmp/flooding ]; do dd if=/tmp/flood bs=148 >&3; done" \
		2>/dev/null &
}

# wg_flooded: are there so many that a wants to see cookies? To those it has sent one for
# each, to the others nothing.
wg_flooded()
{
	wg_sent=$(in_a cat /sys/class/net/veth/statistics/tx_packets)
	sleep 0.1
	[ $(($(in_a cat /sys/class/net/veth/statistics/tx_packets) - wg_sent)) -gt 100 ]
}

# wg_conf PEERS ADDRESSES: so many peers with so many allowed-ips each, half of IPv4
wg_conf()
{
	head -c $(($1 * 33)) /dev/urandom | base64 | tr -d '\n' | fold -w 42 |
		head -n "$1" | awk -v nr="$2" '{
			printf "[Peer]\nPublicKey = %sA=\n", $0
			for (i = 0; i < nr; i++) {
				n = (NR - 1) * nr + i
				printf i ? ", " : "AllowedIPs = "
				if (i % 2)
					printf "fd01::%x:%x", int(n / 65536), n % 65536
				else
					printf "10.%d.%d.%d", 64 + n / 65536,
						n / 256 % 256, n % 256
			}
			print ""
		}'
}

# wg_many DEVICE PEERS ADDRESSES: a device that has them, made in one go
wg_many()
{
	{
		echo "[Interface]"
		echo "PrivateKey = $(wg genkey)"
		wg_conf "$2" "$3"
	} >/tmp/conf
	ip link add "$1" type $WG_KIND && wg setconf "$1" /tmp/conf
}

# wg_nodes PEERS ADDRESSES: nodes of the two tries for such a device, in VALUE: a leaf an
# address, and where they part
wg_nodes()
{
	VALUE=$((2 * ($1 * $2) - 2))
}
