#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# wire_teardown.sh: devices, interfaces, namespaces and the module go while datagrams of programs, and packets of
# strangers, are on the wire.
#
#	bell1 on near0 in ours, 10.9.0.1  ----  bell2 on far0 in the namespace "far", 10.9.0.2
# shellcheck disable=SC2086 # inside is several words
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
class=/sys/class/infiniband
inside='ip netns exec far'

wire() {
	run ip netns add far && run ip link add near0 type veth peer name far0 netns far &&
		run ip address add 10.9.0.1/24 dev near0 && run ip link set near0 up &&
		run ip -n far address add 10.9.0.2/24 dev far0 && run ip -n far link set far0 up
}

has() {
	within 10 grep -qi "$2" "$class/$1"/ports/1/gids/{0,1,2,3}
}

devices() {
	run rdma link add bell1 type bellhop netdev near0 && run $inside rdma link add bell2 type bellhop netdev far0 &&
		has bell1 0a09:0001 && has bell2 0a09:0002
}

# index DEVICE GID: its place in the table.
index() {
	local file
	file=$(grep -il "$2" "$class/$1"/ports/1/gids/{0,1,2,3} | head -n 1)
	echo "${file##*/}"
}

received() {
	cat $class/bell2/ports/1/hw_counters/packets_received
}

# flow: datagrams from bell1 to bell2, and noise, as the processes $server, $client and $stranger.
flow() {
	local before
	$inside ib_send_bw -c UD -d bell2 -x "$(index bell2 0a09:0002)" -s 1024 -D 90 >"$scratch/server" 2>&1 </dev/null &
	server=$!
	within 20 inside_listening || { cat "$scratch/server"; return 1; }
	before=$(received)
	ib_send_bw -c UD -d bell1 -x "$(index bell1 0a09:0001)" -s 1024 -D 90 10.9.0.2 >"$scratch/client" 2>&1 </dev/null &
	client=$!
	# shellcheck disable=SC2016 # for the inner shell
	bash -c 'while :; do echo "nothing that RoCE knows, and longer than its headers" >/dev/udp/10.9.0.2/4791; done' 2>/dev/null &
	stranger=$!
	within 20 grows "$before" || { cat "$scratch/client"; return 1; }
}

grows() {
	[ "$(received)" -gt $(($1 + 20)) ]
}

inside_listening() {
	$inside grep -q ':4853 0*:0000 0A' /proc/net/tcp || $inside grep -q ':4853 0*:0000 0A' /proc/net/tcp6
}

end() {
	kill -KILL "$server" "$client" "$stranger" 2>/dev/null
	within 10 gone "$server" && within 10 gone "$client" && within 10 gone "$stranger"
}

device_gone() {
	within 10 test ! -e "$class/$1"
}

receiver_deleted() {
	flow && run rdma link delete bell2 && device_gone bell2
	local status=$?
	end && return $status
}

sender_deleted() {
	flow && run rdma link delete bell1 && device_gone bell1
	local status=$?
	end && return $status
}

# The programs hold the namespace, and the other end of the wire takes this one along.
wire_deleted() {
	flow && run ip link delete near0 && device_gone bell1 && device_gone bell2
	local status=$?
	end && return $status
}

programs_killed() {
	flow && end
}

# Its interface goes to ours, since it is nobody's who could be deleted with the namespace.
namespace_left() {
	flow && run ip -n far link set far0 netns 1 && device_gone bell2
	local status=$?
	end && run ip link delete near0 && run ip netns delete far && return $status
}

namespace_deleted() {
	run ip netns delete far && device_gone bell2 && device_gone bell1
}

# Programs would keep it; strangers do not.
module_removed() {
	flow && kill -KILL "$server" "$client" && within 10 gone "$server" && within 10 gone "$client" &&
		unload && device_gone bell1 && device_gone bell2
	local status=$?
	end && return $status
}

again() {
	wire && devices
}

clear() {
	ip link delete near0
	ip netns delete far
	return 0
} 2>/dev/null

modprobe veth
ok 'a wire and its devices' again
ok 'programs are killed' programs_killed
ok 'the receiving device is deleted' receiver_deleted
ok 'it is made again' run $inside rdma link add bell2 type bellhop netdev far0
ok 'with its address' has bell2 0a09:0002
ok 'the sending device is deleted' sender_deleted
ok 'it is made again' run rdma link add bell1 type bellhop netdev near0
ok 'with its address' has bell1 0a09:0001
ok 'the wire is deleted' wire_deleted
clear
ok 'all again' again
ok 'the interface leaves its namespace, which goes' namespace_left
ok 'all again' again
ok 'the namespace is deleted' namespace_deleted
clear
ok 'all again' again
ok 'the module is removed' module_removed
clear
ok 'insmod' load
ok 'all again' again
ok 'traffic after all that' programs_killed
clear
finish
