#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# wire_exclusive.sh: where each network namespace has its own RDMA devices, two of them are two hosts.
#
#	bell1 on far0 in "far", 10.9.0.1  ----  bell2 on away0 in "away", 10.9.0.2
# shellcheck disable=SC2086 # far and away are several words
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
far='ip netns exec far'
away='ip netns exec away'

wire() {
	run ip netns add far && run ip netns add away &&
		run ip -n far link add far0 type veth peer name away0 netns away &&
		run ip -n far address add 10.9.0.1/24 dev far0 && run ip -n far link set far0 up &&
		run ip -n away address add 10.9.0.2/24 dev away0 && run ip -n away link set away0 up
}

# add NAMESPACE DEVICE NETDEV: makes it, and gives it to the namespace that its interface is in.
add() {
	run ip netns exec "$1" rdma link add "$2" type bellhop netdev "$3" && run rdma dev set "$2" netns "$1" &&
		within 10 ip netns exec "$1" grep -q 0a09 "/sys/class/infiniband/$2/ports/1/gids/1"
}

away_listens() {
	$away grep -q ':4853 0*:0000 0A' /proc/net/tcp || $away grep -q ':4853 0*:0000 0A' /proc/net/tcp6
}

sent() {
	$far cat /sys/class/infiniband/bell1/ports/1/hw_counters/packets_sent
}

# Both look at every byte, and all of them go by the wire.
pingpong() {
	local before pid status=0
	before=$(sent)
	timeout -s KILL "$(patiently 30)" $away ibv_ud_pingpong -d bell2 -g 1 -s 1000 -n 100 -c >"$scratch/server" 2>&1 </dev/null &
	pid=$!
	within 20 away_listens && limit=30 run $far ibv_ud_pingpong -d bell1 -g 1 -s 1000 -n 100 -c 10.9.0.2 || status=1
	wait $pid || status=1
	cat "$scratch/server"
	echo "packets: $(($(sent) - before))"
	[ $status = 0 ] && [ "$(sent)" -ge $((before + 100)) ]
}

modprobe veth
# The kernel does not switch as long as a namespace of before is on its way out.
ok 'each namespace has its own devices' within 10 rdma system set netns exclusive
ok 'two namespaces and a wire' wire
ok 'a device in one' add far bell1 far0
ok 'a device in the other' add away bell2 away0
ok 'ours does not see it' lacks bell1 ibv_devices
ok 'nor does the other' lacks bell1 $away ibv_devices
ok 'datagrams by the wire' pingpong
ok 'one namespace goes' run ip netns delete far
ok 'the other goes' run ip netns delete away
ok 'all have all again' within 10 rdma system set netns shared
ok 'and their devices are gone' within 10 lacks bell2 ibv_devices
finish
