#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# fabrics.sh: libraries that programs use in verbs' place: libfabric, UCX, and Open MPI over UCX.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

v4=10.8.0.1

# libfabric PROVIDER ENDPOINT: fi_pingpong, which looks at every byte.
libfabric() {
	pair 47592 fi_pingpong -p "$1" -e "$2" -I 100 -c -- fi_pingpong -p "$1" -e "$2" -I 100 -c $v4
}

# transport NAME TEST OPTION...: one of UCX's transports alone.
transport() {
	local name=$1 test=$2
	shift 2
	pair 13337 ucx_perftest -d "$device:1" -x "$name" -t "$test" -n 1000 "$@" -- \
		ucx_perftest -d "$device:1" -x "$name" -t "$test" -n 1000 "$@" $v4
}

# protocol TEST OPTION...: what UCX makes of both of them.
protocol() {
	local test=$1
	shift
	pair 13337 ucx_perftest -t "$test" -n 1000 "$@" -- ucx_perftest -t "$test" -n 1000 "$@" $v4
}

# ranks COMMAND...: four of them, which have nothing but UCX to talk to each other.
ranks() {
	limit=200 run mpirun --allow-run-as-root --oversubscribe -n 4 --mca pml ucx --mca osc ucx --mca btl ^vader,tcp,openib "$@"
}

# Each rank sends to each other one what only it can send, of sizes that go different ways, and all compare a sum.
exchange='
from mpi4py import MPI
comm = MPI.COMM_WORLD
for size in 1, 1000, 20000, 1000000:
    sent = [bytes([16 * comm.rank + to]) * size for to in range(comm.size)]
    got = comm.alltoall(sent)
    assert got == [bytes([16 * peer + comm.rank]) * size for peer in range(comm.size)], size
assert comm.allreduce(comm.rank) == 6
comm.Barrier()
if comm.rank == 0:
    print("4 ranks agree")
'

ok 'an IPv4 address' run ip address add $v4/24 dev "$device"
ok 'libfabric: messages' libfabric verbs msg
ok 'libfabric: datagrams' libfabric verbs dgram
ok 'libfabric: reliable datagrams over messages' libfabric 'verbs;ofi_rxm' rdm

ok 'UCX knows the device' says "$device:1" ucx_info -d
for test in am_lat put_lat put_bw add_lat fadd cswap; do
	ok "UCX: rc_verbs $test" transport rc_verbs $test
done
ok 'UCX: rc_verbs get' transport rc_verbs get -s 4096 -D bcopy
ok 'UCX: rc_verbs am_bw, zcopy' transport rc_verbs am_bw -s 8000 -D zcopy
ok 'UCX: ud_verbs am_lat' transport ud_verbs am_lat
ok 'UCX: ud_verbs am_bw' transport ud_verbs am_bw -s 2000 -D bcopy

export UCX_NET_DEVICES=$device:1 UCX_TLS=rc_verbs,ud_verbs
for test in tag_lat tag_bw ucp_put_lat ucp_get ucp_am_lat ucp_fadd stream_lat; do
	ok "UCX: $test" protocol $test
done
ok 'UCX: tag_bw of 1 MiB' protocol tag_bw -s 1048576 -n 20
ok 'Open MPI: a ring' ranks python3 -m mpi4py.bench ringtest -n 100
ok 'Open MPI: everybody to everybody' ranks python3 -c "$exchange"
finish
