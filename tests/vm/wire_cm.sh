#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# wire_cm.sh: rdma_cm between hosts, the UDP port that only one device of a namespace can have, and what happens to
# packets when everything goes that they are for.
#
#	rxe0 on near0 in ours, 10.9.0.1, fd00:9::1  ----  bell1 on far0 in the namespace "far", 10.9.0.2, fd00:9::2
# shellcheck disable=SC2086 # inside is several words
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
class=/sys/class/infiniband
inside='ip netns exec far'
group=230.1.1.1

# wire: two hosts, of which the other one has a bellhop.
wire() {
	run ip netns add far && run ip link add near0 mtu 4300 type veth peer name far0 mtu 4300 netns far || return
	run ip address add 10.9.0.1/24 dev near0 && run ip -6 address add fd00:9::1/64 dev near0 nodad &&
		run ip link set near0 up && run ip -n far address add 10.9.0.2/24 dev far0 &&
		run ip -n far -6 address add fd00:9::2/64 dev far0 nodad && run ip -n far link set far0 up &&
		run ip route replace 224.0.0.0/4 dev near0 && run ip -n far route add 224.0.0.0/4 dev far0
}

# has DEVICE GID: within some seconds.
has() {
	within 10 grep -qi "$2" $class/$1/ports/1/gids/{0,1,2,3}
}

add_far() {
	run $inside rdma link add bell1 type bellhop netdev far0 && has bell1 0a09:0002 && has bell1 fd00:0009
}

add_rxe() {
	run rdma link add rxe0 type rxe netdev near0 && has rxe0 0a09:0001 && has rxe0 fd00:0009
}

# joined: whether the interface there is in the group.
joined() {
	ip -n far maddr show | grep -q "$group"
}

# grouped: what mckey sends to a group from here, another gets there.
grouped() {
	local pid status=0
	timeout -s KILL "$(patiently 60)" $inside mckey -m $group -b 10.9.0.2 >"$scratch/receiver" 2>&1 </dev/null &
	pid=$!
	within 20 joined && sleep 1 && run mckey -m $group -b 10.9.0.1 -s || status=1
	within 20 gone $pid || kill $pid
	wait $pid || status=1
	cat "$scratch/receiver"
	return $status
}

# answered ADDRESS_HERE ADDRESS_THERE: datagrams that rdma_cm has made known to each other, with the server there.
answered() {
	pair cm $inside udaddy -b $2 -- udaddy -s $2 -b $1
}

asked() {
	pair cm udaddy -b $1 -- $inside udaddy -s $1 -b $2
}

# connected ADDRESS_HERE ADDRESS_THERE: connections, with the server on each side in turn.
connected() {
	pair cm $inside rping -s -a $2 -C 20 -V -- rping -c -a $2 -C 20 -V &&
		pair cm rping -s -a $1 -C 20 -V -- $inside rping -c -a $1 -C 20 -V &&
		pair cm $inside ucmatose -b $2 -c 4 -- ucmatose -s $2 -b $1 -c 4 &&
		pair cm ucmatose -b $1 -c 4 -- $inside ucmatose -s $1 -b $2 -c 4
}

log_says() {
	dmesg | grep -F -- "$1"
}

ok 'a wire' wire
ok 'rdma_rxe loads beside bell0' run modprobe -a rdma_rxe
ok 'rxe0' add_rxe
ok 'bell1' add_far
for address in '10.9.0.1 10.9.0.2' 'fd00:9::1 fd00:9::2'; do
	ok "udaddy to bellhop: $address" answered $address
	ok "udaddy from bellhop: $address" asked $address
	ok "rping and ucmatose: $address" connected $address
done
ok "mckey $group to bellhop" grouped

ok 'a second device in the namespace of rdma_rxe' run rdma link add bell2 type bellhop netdev near0
ok 'is told that it has no port' log_says 'bell2: UDP port 4791 is taken (is rdma_rxe loaded?)'
ok 'and goes' run rdma link delete bell2
ok 'rxe0 goes' run rdma link delete rxe0
ok 'rdma_rxe goes' run rmmod rdma_rxe
ok 'now it has the port' run rdma link add bell2 type bellhop netdev near0
ok 'which rdma_rxe cannot have' fails modprobe rdma_rxe
ok 'bell2 has an address' has bell2 0a09:0001
ok "udaddy between bellhops" answered 10.9.0.1 10.9.0.2
ok "rping and ucmatose between bellhops" connected 10.9.0.1 10.9.0.2
ok "mckey $group between bellhops" grouped
ok 'bell2 goes' run rdma link delete bell2
ok 'rdma_rxe has the port again' run modprobe rdma_rxe
ok 'and goes for good' run rmmod rdma_rxe
ok 'the other host goes' run ip netns delete far
finish
