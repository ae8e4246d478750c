#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# load.sh: what insmod gives, devices on other interfaces, and that rmmod takes all of it away.
#
#	bell0 ── its own interface, also bell0        bell1, bell2 ── dummy0, dummy1
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
class=/sys/class/infiniband

active() {
	reads $class/"$1"/ports/1/state '4: ACTIVE'
}

has_gid() {
	local port=$class/$1/ports/1
	cat "$port/gids/0" "$port/gid_attrs/types/0" "$port/gid_attrs/ndevs/0" || return
	! grep -q '^[0:]*$' "$port/gids/0" && grep -qx 'RoCE v2' "$port/gid_attrs/types/0" &&
		grep -qx "$2" "$port/gid_attrs/ndevs/0"
}

# Nothing waits between insmod and the looks: the device is ready when insmod returns.
load_and_look() {
	load && active bell0 && has_gid bell0 bell0
}

no_trace() {
	ls $class /sys/class/net /sys/devices/platform
	! ls -d $class/bell* /sys/class/net/bell* /sys/devices/platform/bellhop* 2>/dev/null
}

add() {
	run rdma link add "$1" type bellhop netdev "$2"
}

remove() {
	run rdma link delete "$1"
}

refuses() {
	fails rdma link add "$1" type bellhop netdev "$2"
}

guids_differ() {
	cat $class/bell0/node_guid $class/bell1/node_guid
	[ "$(cat $class/bell0/node_guid)" != "$(cat $class/bell1/node_guid)" ]
}

add_and_remove_often() {
	local i
	for i in $(seq 20); do
		rdma link add bell1 type bellhop netdev dummy0 && rdma link delete bell1 || return
	done
	echo "$i times"
}

load_and_unload_often() {
	for _ in $(seq 5); do
		load && active bell0 && unload || return
	done
}

modprobe dummy numdummies=0
ip link add dummy0 type dummy
ip link add dummy1 type dummy
ip link set dummy0 up
ip address add 10.9.0.1/24 dev dummy0

ok 'rmmod' unload
ok 'without the module there is no trace of it' no_trace
ok 'bell0 is active and has a RoCE v2 GID when insmod returns' load_and_look
ok 'its interface is where tools look for it' reads $class/bell0/device/net/bell0/operstate unknown
ok 'ibv_devices lists it' says bell0 ibv_devices
ok 'ibv_devinfo -v says it is active' says 'PORT_ACTIVE (4)' ibv_devinfo -v -d bell0
ok 'rdma link shows it' says 'link bell0/1 state ACTIVE physical_state LINK_UP netdev bell0' rdma link show
ok 'rdma resource show shows it' says "bell0: $idle" rdma resource show
ok 'the user file exists' test -c /dev/infiniband/uverbs0

ok 'rdma link add' add bell1 dummy0
ok 'bell1 is active' active bell1
ok 'and has a GID of its interface' has_gid bell1 dummy0
ok 'node GUIDs are unique' guids_differ
ok 'ibv_devinfo finds bell1' says 'PORT_ACTIVE (4)' ibv_devinfo -d bell1
ok 'one interface carries one device' refuses bell2 dummy0
ok 'a name is given once' refuses bell1 dummy1
ok 'no device without an interface' refuses bell2 absent
ok 'not on an interface that is not Ethernet' refuses bell2 lo
ok 'a device on an interface that is down' add bell2 dummy1
ok 'is not active' reads $class/bell2/ports/1/state '1: DOWN'
ok 'an interface takes its device along' run ip link delete dummy1
ok 'soon' within 10 test ! -e $class/bell2
ok 'rdma link delete' remove bell1
ok 'and it is gone' test ! -e $class/bell1
ok 'added and deleted often' add_and_remove_often

ok 'rdma link add once more' add bell1 dummy0
ok 'rmmod with two devices' unload
ok 'leaves no trace' no_trace
ok 'nor touches the interface of others' reads /sys/class/net/dummy0/flags 0x83

ok 'insmod create=0' load create=0
ok 'makes no device' test ! -e $class/bell0
ok 'shows the parameter' reads /sys/module/bellhop/parameters/create N
ok 'and still has rdma link add' add bell0 dummy0
ok 'of any name' active bell0
ok 'rmmod after create=0' unload
ok 'an interface with the name of ours' run ip link add bell0 type dummy
ok 'is in the way' fails "$tree/scripts/load.sh"
ok 'which the kernel log says' says 'no bell0: error -17, an interface has that name' dmesg
ok 'without a trace of the module' test ! -e /sys/module/bellhop
ok 'that interface goes' run ip link delete bell0
ok 'loaded and unloaded often' load_and_unload_often
finish
