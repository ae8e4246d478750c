#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# rdma_cm.sh: programs find each other by address: rdma_cm's tools over IPv4 and IPv6, and over multicast groups of IPv4:
# for those of IPv6 over RoCEv2 the core has no join.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

v4=10.8.0.1
v6=fd00:8::1
group=230.1.1.1

# connected SERVER... -- CLIENT...: both must succeed.
connected() {
	pair cm "$@"
}

# grouped OPTION...: what one mckey sends to a group, another gets; the options are the receiver's.
grouped() {
	pair $group mckey -m $group -b $v4 "$@" -- mckey -m $group -b $v4 -s
}

left() {
	! listening $group
}

ok 'an IPv4 address' run ip address add $v4/24 dev bell0
ok 'an IPv6 address' run ip -6 address add $v6/64 dev bell0 nodad
for address in $v4 $v6; do
	ok "rping $address" connected rping -s -a $address -C 20 -v -- rping -c -a $address -C 20 -V -v
	ok "ucmatose $address" connected ucmatose -b $address -- ucmatose -s $address -b $address
	ok "udaddy $address" connected udaddy -b $address -- udaddy -s $address -b $address
done
ok 'many connections' connected ucmatose -b $v4 -c 30 -C 10 -- ucmatose -s $v4 -b $v4 -c 30 -C 10
ok 'a route to multicast groups' run ip route add 224.0.0.0/4 dev bell0
ok "mckey $group" grouped
ok "mckey $group of three" grouped -c 3
ok "mckey $group of whole packets" pair $group mckey -m $group -S 4096 -- mckey -m $group -S 4096 -s
ok "nobody is left in $group" within 10 left
finish
