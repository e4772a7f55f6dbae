# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the tests of network modules share: two network namespaces, a and b, with a
# veth pair between them, 10.0.0.1 and 10.0.0.2, and traffic from a to b.
#
# usage: . "${0%/*}/net.sh", after peer.sh
# shellcheck disable=SC2317 # called by others
WWW=/tmp/www

# in_a COMMAND..., in_b COMMAND...: in that namespace
in_a()
{
	ip netns exec a "$@"
}

in_b()
{
	ip netns exec b "$@"
}

# net_begin: the namespaces, and what answers in b
net_begin()
{
	modprobe veth
	ip netns add a
	ip netns add b
	ip link add veth netns a type veth peer name veth netns b
	net_up a veth 10.0.0.1 || not_ok "make a network namespace"
	net_up b veth 10.0.0.2 || not_ok "make another"
	mkdir -p $WWW
	dd if=/dev/urandom of=$WWW/file bs=1k count=16 2>/dev/null
	in_b httpd -h $WWW
	in_b iperf3 --server --daemon >/dev/null
	within 5000 net_answers 10.0.0.2 || not_ok "a server answers"
}

# net_up NAMESPACE DEVICE ADDRESS
net_up()
{
	ip -n "$1" addr add "$3/24" dev "$2" && ip -n "$1" link set "$2" up &&
		ip -n "$1" link set lo up
}

# net_answers ADDRESS: one short connection, whose content is looked at
net_answers()
{
	in_a wget -q -O - "http://$1/file" | cmp -s - $WWW/file
}

# net_short N ADDRESS: so many short connections, all of which must be answered
net_short()
{
	net_bad=0
	for _ in $(seq "$1"); do
		net_answers "$2" || net_bad=$((net_bad + 1))
	done
	is "$1 short connections to $2" $net_bad 0
}

# net_stream ADDRESS ARG...: a stream by iperf3, in the background
net_stream()
{
	net_address=$1
	shift
	in_a iperf3 --client "$net_address" "$@" >/tmp/stream 2>&1 &
	NET_STREAM=$!
}

# net_streamed WHAT: wait for it; it must have come to its end
net_streamed()
{
	if wait "$NET_STREAM"; then
		ok "$1: $(sed -n 's/^\[\(SUM\| *[0-9]*\)\].*sec *\(.*Bytes\) .*receiver/\2/p' \
			/tmp/stream | tail -n 1)"
	else
		not_ok "$1" "$(tail -n 3 /tmp/stream)"
	fi
}

net_end()
{
	ip netns pids b | xargs -r kill
	ip netns del a
	ip netns del b
}
