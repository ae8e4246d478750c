#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# netns.sh: devices over interfaces of other network namespaces: seen in all of them, and gone with their own,
# whether programs run in it or not.
#
#	bell0 in ours        bell1 on dummy1 in the namespace "bellhop"
# shellcheck disable=SC2086 # inside is several words
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
class=/sys/class/infiniband

inside='ip netns exec bellhop'

make_netns() {
	run ip netns add bellhop && run ip -n bellhop link set lo up &&
		run ip -n bellhop link add dummy1 up type dummy && run ip -n bellhop address add 10.9.1.1/24 dev dummy1
}

# add: bell1 in the namespace.
add() {
	run $inside rdma link add bell1 type bellhop netdev dummy1 && within 10 grep -q ACTIVE $class/bell1/ports/1/state
}

device_gone() {
	within 10 test ! -e "$class/$1"
}

netns_gone() {
	run ip netns delete bellhop && device_gone bell1
}

# flow: traffic on bell1 within the namespace, as the processes $server and $client.
flow() {
	$inside ib_write_bw -d bell1 -s 65536 -D 90 >"$scratch/server" 2>&1 </dev/null &
	server=$!
	within 20 inside_listening || { cat "$scratch/server"; return 1; }
	$inside ib_write_bw -d bell1 -s 65536 -D 90 localhost >"$scratch/client" 2>&1 </dev/null &
	client=$!
	within 20 flows || { cat "$scratch/client"; return 1; }
}

inside_listening() {
	$inside grep -q ':4853 0*:0000 0A' /proc/net/tcp || $inside grep -q ':4853 0*:0000 0A' /proc/net/tcp6
}

flows() {
	rdma resource show qp link bell1/1 | grep -q 'state RTS'
}

kill_pair() {
	kill -KILL "$server" "$client"
	within 10 gone "$server" && within 10 gone "$client"
}

# The name goes, and the programs hold what it stands for.
deleted_under_programs() {
	make_netns && add && flow || return
	run ip netns delete bellhop
	sleep 1
	flows || { echo 'the programs do not run any more'; return 1; }
	kill_pair && device_gone bell1
}

device_deleted_under_programs() {
	make_netns && add && flow || return
	run rdma link delete bell1 && device_gone bell1 && kill_pair && run ip netns delete bellhop
}

# An interface that comes from outside takes its device along nowhere.
moved() {
	run ip netns add bellhop && run ip link add dummy1 up type dummy &&
		run rdma link add bell1 type bellhop netdev dummy1 && run ip link set dummy1 netns bellhop && device_gone bell1
}

up_again() {
	run ip -n bellhop link set dummy1 up && add
}

often() {
	local i
	for i in $(seq 5); do
		{ make_netns && add; } >/dev/null || return
		ip netns delete bellhop
		device_gone bell1 || return
	done
	echo "$i times"
}

removed_with_link() {
	make_netns && add && unload && device_gone bell1 && $inside test -e /sys/class/net/dummy1
}

modprobe dummy numdummies=0
ok 'a namespace' make_netns
ok 'rdma link add in it' add
ok 'does not find interfaces of others' fails ip netns exec bellhop rdma link add bell2 type bellhop netdev "$device"
ok 'the device is seen outside' says bell1 ibv_devices
ok 'and inside' says bell1 ip netns exec bellhop ibv_devices
ok 'its GID belongs to the interface' grep -q dummy1 $class/bell1/ports/1/gid_attrs/ndevs/0
ok 'it goes with its namespace' netns_gone
ok 'the same with programs in it' deleted_under_programs
ok 'the device deleted under programs' device_deleted_under_programs
ok 'made and deleted often' often
ok 'an interface leaves its device behind' moved
ok 'which can be made again there' up_again
ok 'and goes with the namespace' netns_gone
ok 'the module goes while a namespace has a device' removed_with_link
ok 'the namespace afterwards' run ip netns delete bellhop
ok 'insmod after that' load
ok "the module's own interface moves" run ip netns add bellhop
ok 'which ends its device' run ip link set bell0 netns bellhop
ok 'soon' device_gone bell0
ok 'the namespace has no interface of ours' lacks bell0 ip -n bellhop link
ok 'and goes' run ip netns delete bellhop
ok 'rmmod' unload
ok 'insmod' load
ok 'traffic after all that' measures ib_write_bw -n 500
finish
