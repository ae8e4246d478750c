#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# wire_netdevs.sh: connections, datagrams and rdma_cm between hosts over the interfaces that people have, each of which
# is built over the same cable at both ends; and interfaces that no device can be over.
#
#	bell1 over cable0 in "far", 10.9.0.1, fd00:9::1  ----  bell2 over cable0 in "away", 10.9.0.2, fd00:9::2
# shellcheck disable=SC2086,SC2016 # class is a word without spaces; perl's variables are its own
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
class=/sys/class/infiniband

clear() {
	for pid in "$scratch"/*.pid; do
		[ -e "$pid" ] && kill "$(cat "$pid")" && rm "$pid"
	done
	rdma link delete bell1
	rdma link delete bell2
	ip netns delete far
	ip netns delete away
	within 10 test ! -e $class/bell1
	within 10 test ! -e $class/bell2
	return 0
} >/dev/null 2>&1
trap 'clear; rm -rf "$scratch"' EXIT

far() {
	ip netns exec far "$@"
}

# Each end has a function for what is built there: END is far or away, NUMBER the last digit of its addresses. Of an
# address only its own interface may tell, for packets are taken from that alone.
cable() {
	local end
	clear
	run ip netns add far && run ip netns add away &&
		run ip -n far link add cable0 type veth peer name cable0 netns away || return
	for end in far away; do
		run ip -n $end link set lo up && run ip -n $end link set cable0 up &&
			run ip netns exec $end sysctl -q net.ipv4.conf.all.arp_ignore=1 || return
	done
}

# address END NUMBER INTERFACE
address() {
	run ip -n "$1" address add "10.9.0.$2/24" dev "$3" && run ip -n "$1" -6 address add "fd00:9::$2/64" dev "$3" nodad &&
		run ip -n "$1" link set "$3" up
}

# device END NUMBER INTERFACE: a bellhop over it, which has both addresses before long.
device() {
	run ip netns exec "$1" rdma link add "bell$2" type bellhop netdev "$3" &&
		within 10 has "bell$2" "0a09:000$2" && within 10 has "bell$2" "fd00:0009:.*000$2" &&
		within 10 grep -q ACTIVE "$class/bell$2/ports/1/state"
}

has() {
	grep -qi "$2" "$class/$1"/ports/1/gids/{0..9}
}

veth() {
	address "$1" "$2" cable0 && device "$1" "$2" cable0
}

bridge() {
	run ip -n "$1" link add top0 type bridge && run ip -n "$1" link set cable0 master top0 &&
		address "$1" "$2" top0 && device "$1" "$2" top0
}

# An interface that is plugged into a bridge, as those of containers are.
plugged() {
	run ip -n "$1" link add bridge0 type bridge && run ip -n "$1" link set cable0 master bridge0 &&
		run ip -n "$1" link add top0 type veth peer name plug0 && run ip -n "$1" link set plug0 up master bridge0 &&
		run ip -n "$1" link set bridge0 up && address "$1" "$2" top0 && device "$1" "$2" top0
}

# The device is over what the virtual network is over, and has its address nevertheless.
vlan() {
	run ip -n "$1" link add link cable0 name cable0.7 type vlan id 7 && address "$1" "$2" cable0.7 &&
		device "$1" "$2" cable0
}

macvlan() {
	run ip -n "$1" link add link cable0 name top0 type macvlan mode bridge && address "$1" "$2" top0 &&
		device "$1" "$2" top0
}

ipvlan() {
	run ip -n "$1" link add link cable0 name top0 type ipvlan mode l2 && address "$1" "$2" top0 && device "$1" "$2" top0
}

# Of two cables, one at a time.
bond() {
	run ip -n "$1" link add top0 type bond mode active-backup miimon 50 &&
		run ip -n "$1" link set cable0 down && run ip -n "$1" link set cable0 master top0 &&
		run ip -n "$1" link set cable1 down && run ip -n "$1" link set cable1 master top0 &&
		address "$1" "$2" top0 && device "$1" "$2" top0
}

second_cable() {
	run ip -n far link add cable1 type veth peer name cable1 netns away
}

# tap END NUMBER: what a virtual machine has: a program, which hands frames to the one at the other end.
tap() {
	local other=far
	[ "$1" = far ] && other=away
	ip netns exec "$1" perl -MSocket -e '
		alarm 300;
		my ($own, $other) = @ARGV;
		open(my $tap, "+<", "/dev/net/tun") or die "no tun: $!";
		my $request = pack("a16 s x22", "top0", 0x1002); # IFF_TAP | IFF_NO_PI
		ioctl($tap, 0x400454ca, $request) or die "TUNSETIFF: $!";
		socket(my $line, AF_UNIX, SOCK_DGRAM, 0) or die "socket: $!";
		bind($line, pack_sockaddr_un($own)) or die "bind: $!";
		for (;;) {
			my $ready = "";
			vec($ready, fileno($_), 1) = 1 for $tap, $line;
			select($ready, undef, undef, undef);
			if (vec($ready, fileno($tap), 1)) {
				sysread($tap, my $frame, 65536);
				send($line, $frame, 0, pack_sockaddr_un($other));
			}
			if (vec($ready, fileno($line), 1)) {
				recv($line, my $frame, 65536, 0);
				syswrite($tap, $frame);
			}
		}' "$scratch/$1.tap" "$scratch/$other.tap" </dev/null >"$scratch/$1.out" 2>&1 &
	echo $! >"$scratch/$1.pid"
	within 10 ip -n "$1" link show top0 || { cat "$scratch/$1.out"; return 1; }
	address "$1" "$2" top0 && device "$1" "$2" top0
}

# both KIND: built at both ends.
both() {
	"$1" far 1 && "$1" away 2
}

# index DEVICE GID: its place in the table.
index() {
	local file
	file=$(grep -il "$2" "$class/$1"/ports/1/gids/{0..9} | head -n 1)
	echo "${file##*/}"
}

sent() {
	cat $class/bell1/ports/1/hw_counters/packets_sent
}

# pingpong rc|ud|uc GID_FAR GID_AWAY [OPTION...]: both look at every byte, and all of them go by the wire.
pingpong() {
	local before
	before=$(sent)
	limit=30 pair away:18515 ip netns exec away "ibv_$1_pingpong" -d bell2 -g "$(index bell2 "$3")" -s 1000 -n 100 -c "${@:4}" -- \
		ip netns exec far "ibv_$1_pingpong" -d bell1 -g "$(index bell1 "$2")" -s 1000 -n 100 -c "${@:4}" 10.9.0.2 &&
		[ "$(sent)" -ge $((before + 100)) ]
}

# pings ADDRESS: by rdma_cm, and every byte is looked at.
pings() {
	limit=30 pair cm ip netns exec away rping -s -a "$1" -C 20 -V -- ip netns exec far rping -c -a "$1" -C 20 -V
}

traffic() {
	ok "$1: RC by IPv4" pingpong rc 0a09:0001 0a09:0002
	ok "$1: RC by IPv6" pingpong rc fd00:0009 fd00:0009
	ok "$1: UD by IPv4" pingpong ud 0a09:0001 0a09:0002
	ok "$1: rping by IPv4" pings 10.9.0.2
	ok "$1: rping by IPv6" pings fd00:9::2
}

# kind NAME FUNCTION MODULE [PREPARATION]: all that is claimed of a kind of interface.
kind() {
	if ! modprobe -q "$3"; then
		passed_over "$1" "the kernel has no $3"
		return
	fi
	ok "$1: a cable" cable
	[ -z "${4:-}" ] || ok "$1: $4" "$4"
	ok "$1: devices at both ends" both "$2"
	traffic "$1"
}

# grows BY: so many packets more than $before.
grows() {
	[ "$(sent)" -ge $((before + $1)) ]
}

# beside COMMAND...: the command during an exchange of which every byte is looked at, and which goes on afterwards.
beside() {
	local before server client status=0
	before=$(sent)
	timeout -s KILL "$(patiently 90)" ip netns exec away rping -s -a 10.9.0.2 -S 4096 -V >"$scratch/server" 2>&1 </dev/null &
	server=$!
	within 20 listening cm || status=1
	timeout -s KILL "$(patiently 90)" ip netns exec far rping -c -a 10.9.0.2 -S 4096 -V >"$scratch/client" 2>&1 </dev/null &
	client=$!
	within 20 grows 300 && "$@" || status=1
	before=$(sent)
	within 20 grows 300 || { echo 'it does not go on'; status=1; }
	if gone $client || gone $server; then
		echo 'it has ended'
		status=1
	fi
	kill $client $server
	within 10 gone $client || kill -KILL $client
	within 10 gone $server || kill -KILL $server
	cat "$scratch/server" "$scratch/client"
	return $status
}

# The slave that is in use goes at one end, and comes back.
fail_over() {
	local active
	active=$(far cat /sys/class/net/top0/bonding/active_slave)
	run ip -n far link set "$active" down && sleep 1 && run ip -n far link set "$active" up &&
		[ "$(far cat /sys/class/net/top0/bonding/active_slave)" != "$active" ]
}

# Those of before and behind the one that is in use.
addresses_come_and_go() {
	local number
	for number in $(seq 11 18); do
		run ip -n far address add "10.9.0.$number/24" dev cable0 && run ip -n away address add "10.9.1.$number/24" dev cable0 &&
			run ip -n far -6 address add "fd00:9::$number/64" dev cable0 nodad || return
		if [ $((number % 2)) = 0 ]; then
			run ip -n far address delete "10.9.0.$number/24" dev cable0 &&
				run ip -n far -6 address delete "fd00:9::$number/64" dev cable0 || return
		fi
		run ip -n away address delete "10.9.1.$number/24" dev cable0 || return
	done
}

# by_cm ADDRESS [OPTION]: perftest, connected by rdma_cm.
by_cm() {
	reported cm ip netns exec away ib_write_bw -d bell2 -R -s 4096 -n 200 "${@:2}" -- \
		ip netns exec far ib_write_bw -d bell1 -R -s 4096 -n 200 "${@:2}" "$1"
}

# Two programs of one host, over an interface that leads nowhere.
locally() {
	run ip netns add far && run ip -n far link set lo up && run ip -n far link add top0 type dummy &&
		address far 1 top0 && device far 1 top0 || return
	reported far:18515 ip netns exec far ib_write_bw -d bell1 -x "$(index bell1 0a09:0001)" -s 4096 -n 200 -- \
		ip netns exec far ib_write_bw -d bell1 -x "$(index bell1 0a09:0001)" -s 4096 -n 200 localhost &&
		[ "$(sent)" = 0 ]
}

# no_device INTERFACE: none can be over it.
no_device() {
	fails ip netns exec far rdma link add bell3 type bellhop netdev "$1" && [ ! -e $class/bell3 ]
}

# Each interface has one at most.
no_second() {
	fails ip netns exec far rdma link add bell3 type bellhop netdev cable0 && [ ! -e $class/bell3 ]
}

# Within one host.
pings_itself() {
	limit=30 pair cm ip netns exec far rping -s -a 10.9.0.1 -C 20 -V -- ip netns exec far rping -c -a 10.9.0.1 -C 20 -V
}

modprobe -q veth
ok 'veth: a cable' cable
ok 'veth: devices at both ends' both veth
traffic veth
ok 'veth: UC by IPv4' pingpong uc 0a09:0001 0a09:0002
ok 'veth: addresses come and go beside a connection' beside addresses_come_and_go
ok 'veth: perftest by rdma_cm and IPv4' by_cm 10.9.0.2
if ib_write_bw --help 2>&1 | grep -q ipv6-addr; then
	ok 'veth: perftest by rdma_cm and IPv6' by_cm fd00:9::2 --ipv6-addr
else
	passed_over 'veth: perftest by rdma_cm and IPv6' 'this perftest connects by IPv4 only'
fi
ok 'veth: rping within a host' pings_itself
ok 'veth: no second device' no_second
kind 'bridge' bridge bridge
kind 'plugged into a bridge' plugged bridge
kind 'below a VLAN' vlan 8021q
# The RDMA core gives a VLAN's addresses to the device over what is below it, and to no other.
if modprobe -q 8021q; then
	ok 'below a VLAN: rping within a host' pings_itself
	ok 'VLAN: no device over itself' no_device cable0.7
fi
kind 'macvlan' macvlan macvlan
kind 'ipvlan' ipvlan ipvlan
kind 'tap' tap tun
kind 'bond' bond bonding second_cable
if modprobe -q bonding; then
	ok 'bond: a slave goes during a transfer' beside fail_over
fi
clear
modprobe -q dummy
ok 'dummy: locally' locally
clear
# They have no Ethernet addresses, of which the RDMA core makes the GIDs that a port has at least.
ok 'a host' cable
ok 'loopback: no device' no_device lo
if modprobe -q tun; then
	ok 'tun' run ip -n far tuntap add tun0 mode tun
	ok 'tun: no device' no_device tun0
fi
finish
