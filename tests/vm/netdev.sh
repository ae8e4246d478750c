#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# netdev.sh: the port follows its interface: state, path MTU, GIDs, and an event for each change of state.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
port=/sys/class/infiniband/$device/ports/1

mtu() {
	run ip link set "$device" mtu "$1" && says "active_mtu:		$2 " ibv_devinfo -d "$device"
}

state() {
	within 5 grep -q "$1" $port/state
	cat $port/state
	grep -q "$1" $port/state
}

# events NUMBER: how many state events the watcher has seen, at least.
events() {
	[ "$(grep -c 'event_type IBV_EVENT_PORT' "$scratch/events")" -ge "$1" ]
}

in_order() {
	within 10 events 4
	cat "$scratch/events"
	[ "$(grep -o 'IBV_EVENT_PORT_[A-Z]*' "$scratch/events" | tr '\n' ' ')" = \
		'IBV_EVENT_PORT_ERR IBV_EVENT_PORT_ACTIVE IBV_EVENT_PORT_ERR IBV_EVENT_PORT_ACTIVE ' ]
}

has_address() {
	cat $port/gids/* 2>/dev/null | sort -u
	within 5 grep -q "$1" $port/gids/0 $port/gids/1 $port/gids/2 $port/gids/3
}

ibv_asyncwatch -d "$device" >"$scratch/events" 2>&1 </dev/null &
watcher=$!
ok 'ibv_asyncwatch watches' within 20 grep -q 'async event FD' "$scratch/events"

ok 'MTU of 1500' mtu 1500 1024
ok 'MTU of 4200' mtu 4200 4096
ok 'MTU of 9000' mtu 9000 4096
ok 'MTU of 700' mtu 700 512
ok 'MTU of 576' mtu 576 256
ok 'MTU of 4200 again' mtu 4200 4096

ok 'down' run ip link set "$device" down
ok 'port is down' state DOWN
ok 'up' run ip link set "$device" up
ok 'port is active' state ACTIVE
ok 'down again' run ip link set "$device" down
ok 'rdma link says so' says "link $device/1 state DOWN physical_state DISABLED" rdma link show "$device/1"
ok 'up again' run ip link set "$device" up
ok 'and so for that' says "link $device/1 state ACTIVE physical_state LINK_UP" rdma link show "$device/1"
ok 'one event each, in order' in_order

ok 'an address of the interface' run ip address add 10.8.0.1/24 dev "$device"
ok 'becomes a GID' has_address '0000:0000:0000:0000:0000:ffff:0a08:0001'
ok 'and a removed one' run ip address delete 10.8.0.1/24 dev "$device"
ok 'goes' within 5 lacks 0a08:0001 cat $port/gids/1 $port/gids/2
ok 'traffic after all that' measures ib_write_bw -n 500

kill $watcher
wait $watcher
ok 'the watcher ended' gone $watcher
finish
