#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# rdma_cm.sh: programs find each other by address: rdma_cm's tools over IPv4 and IPv6, and perftest with -R.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

v4=10.8.0.1
v6=fd00:8::1

# connected SERVER... -- CLIENT...: both must succeed.
connected() {
	pair cm "$@"
}

ok 'an IPv4 address' run ip address add $v4/24 dev bell0
ok 'an IPv6 address' run ip -6 address add $v6/64 dev bell0 nodad
for address in $v4 $v6; do
	ok "rping $address" connected rping -s -a $address -C 20 -v -- rping -c -a $address -C 20 -V -v
	ok "ucmatose $address" connected ucmatose -b $address -- ucmatose -s $address -b $address
	ok "udaddy $address" connected udaddy -b $address -- udaddy -s $address -b $address
done
ok 'many connections' connected ucmatose -b $v4 -c 30 -C 10 -- ucmatose -s $v4 -b $v4 -c 30 -C 10
finish
