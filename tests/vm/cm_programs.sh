#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# cm_programs.sh: more programs that find each other by rdma_cm: sockets over RDMA, requests by the library's own calls,
# qperf and fio. Not udpong: the library's datagram sockets address themselves by LID alone, and RoCE has none.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

v4=10.8.0.1

# both TOOL OPTION...: a server and a client that have the same options.
both() {
	local tool=$1
	shift
	pair cm "$tool" -b $v4 "$@" -- "$tool" -s $v4 "$@"
}

# polled: rstream that polls before each step. One that polls when the other is done already is told that it has
# disconnected (POLLHUP, 16), takes that for a failure whatever there is left to receive, and is tried again.
polled() {
	local status try
	for try in 1 2 3; do
		status=0
		both rstream -T a -S 4096 -C 50 >"$scratch/pair" || status=$?
		cat "$scratch/pair"
		[ $status != 0 ] && [ "$try" -lt 3 ] && grep -q ': status 16$' "$scratch/pair" || return $status
	done
}

# stored VERB: fio's own client and server. Not its sends: it connects without a retry when there is no receive, and
# the server has none yet when it has accepted, so that a first send which arrives at once is one too early.
stored() {
	local common=(--thread --ioengine=rdma --size=4M --bs=64k --port=8765)
	pair cm fio --name=receiver "${common[@]}" --iodepth=4 --rw=read -- \
		fio --name=sender "${common[@]}" --iodepth=4 --hostname=$v4 --verb="$1" --rw=write
}

# timed OPTION...: cmtime, whose server goes on waiting when its client has gone.
timed() {
	local pid status=0
	timeout --foreground -s KILL "$(patiently 60)" cmtime -b $v4 >"$scratch/server" 2>&1 </dev/null &
	pid=$!
	within 20 listening cm && bounded cmtime -s $v4 "$@" || status=1
	kill $pid
	wait $pid
	within 10 unheard && return $status
}

unheard() {
	! listening cm
}

# measured TEST: qperf, whose connections are made by rdma_cm.
measured() {
	pair 19765 qperf -- bash -c "qperf $v4 -cm1 -t 1 $1; status=\$?; qperf $v4 quit; exit \$status"
}

ok 'an IPv4 address' run ip address add $v4/24 dev "$device"
ok 'rstream' both rstream -S 65536 -C 50
ok 'rstream, asynchronous' polled
ok 'rstream, blocking' both rstream -T b -S 4096 -C 50
ok 'riostream' both riostream -S 65536 -C 50
ok 'riostream, blocking' both riostream -T b -S 4096 -C 50
ok 'rdma_client' pair cm rdma_server -s $v4 -- rdma_client -s $v4
for service in r x; do
	ok "rdma_xclient -c $service" pair cm rdma_xserver -c $service -- rdma_xclient -s $v4 -c $service
done
for test in rc_lat rc_bw rc_bi_bw rc_rdma_write_lat rc_rdma_write_bw rc_rdma_read_lat rc_rdma_read_bw rc_fetch_add_mr rc_compare_swap_mr; do
	ok "qperf $test" measured $test
done
ok 'cmtime' timed -c 50
for verb in write read; do
	ok "fio $verb" stored $verb
done
finish
