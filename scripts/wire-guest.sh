#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# wire-guest.sh NUMBER RESULTS: measures bellhop and rdma_rxe between the guest that it runs in and another one, which
# runs it with the other number at the same time: 1 serves, 2 measures, and writes to RESULTS one line for each number:
# measure, device, value. What fails is no line.
set -uo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")" || exit 1
number=$1 results=$2
rounds=2
netdev=eth0
port=18515
log=$(mktemp)

has_gid() {
	local i
	for i in 0 1 2 3; do
		gid=$i
		grep -q '0a09:000' "/sys/class/infiniband/$1/ports/1/gids/$i" 2>/dev/null && return
	done
	return 1
}

# begin TYPE: makes the device TYPE0 on the wire.
begin() {
	local i
	if [ "$1" = bell ]; then
		scripts/load.sh create=0
		rdma link add bell0 type bellhop netdev $netdev
	else
		modprobe rdma_rxe
		rdma link add rxe0 type rxe netdev $netdev
	fi
	for i in $(seq 100); do
		has_gid "${1}0" && return
		sleep 0.1
	done
	echo "wire-guest.sh: ${1}0 has no GID" >&2
	exit 1
}

end() {
	rdma link delete "${1}0"
	if [ "$1" = bell ]; then rmmod bellhop; else rmmod rdma_rxe; fi
}

# measure TYPE MEASURE COLUMN TOOL OPTION...: each has a port of its own, so that the two cannot get out of step.
measure() {
	local type=$1 measure=$2 column=$3 tool=$4
	shift 4
	port=$((port + 1))
	set -- "$tool" -d "${type}0" -x "$gid" -p $port --use_old_post_send "$@"
	if [ "$number" = 1 ]; then
		timeout -s KILL 60 "$@" >"$log" 2>&1 </dev/null
		return
	fi
	for _ in $(seq 300); do
		timeout -s KILL 60 "$@" 10.9.0.1 >"$log" 2>&1 </dev/null
		grep -q "Couldn't connect" "$log" || break
		sleep 0.1
	done
	awk -v measure="$measure" -v device="$type" -v column="$column" '
		/^ *[0-9]+ +[0-9]+ +[-0-9]/ { print measure, device, $column }' "$log" | tee -a "$results"
}

modprobe -a virtio_net ib_uverbs rdma_ucm sch_netem || exit 1
for _ in $(seq 50); do
	[ -e /sys/class/net/$netdev ] && break
	sleep 0.1
done
ip link set $netdev mtu 4300 && ip address add "10.9.0.$number/24" dev $netdev && ip link set $netdev up || exit 1
for round in $(seq $rounds); do
	echo "round $round of $rounds"
	for type in bell rxe; do
		begin $type
		for verb in write send read; do
			measure $type ${verb}_lat 5 ib_${verb}_lat -s 8 -n 1000
			measure $type ${verb}_bw 4 ib_${verb}_bw -s 65536 -n 500
		done
		measure $type write_rate 5 ib_write_bw -s 8 -n 5000
		tc qdisc add dev $netdev root netem loss 1%
		for verb in write send read; do
			measure $type lossy_${verb}_bw 4 ib_${verb}_bw -s 65536 -n 200
		done
		tc qdisc delete dev $netdev root
		end $type
	done
done
