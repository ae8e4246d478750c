#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# rxe.sh [NAME]: makes rxe0, a device of the kernel's own rdma_rxe, to compare with: on a dummy interface
# with an IPv4 address.
set -euo pipefail
name=${1:-rxe0}
modprobe -a dummy rdma_rxe ib_uverbs rdma_ucm
ip link add "$name-net" type dummy
ip address add 10.77.0.1/24 dev "$name-net"
ip link set "$name-net" up
rdma link add "$name" type rxe netdev "$name-net"
for _ in $(seq 50); do
	grep -q ACTIVE "/sys/class/infiniband/$name/ports/1/state" && exit
	sleep 0.1
done
echo "rxe.sh: $name does not become active" >&2
exit 1
