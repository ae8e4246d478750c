#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# devinfo.sh: what ibv_devinfo and rdma say of the device: limits wide enough for the programs people run,
# and objects counted while a program has them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# at_least NAME NUMBER: a value of ibv_devinfo -v.
at_least() {
	local value
	value=$(awk -v name="$1:" '$1 == name { print $2; exit }' "$scratch/devinfo")
	echo "$1: ${value:-absent}"
	[ "${value:-0}" -ge "$2" ]
}

is() {
	grep -E "^[[:space:]]*$1:" "$scratch/devinfo"
	grep -qE "^[[:space:]]*$1:[[:space:]]*$2" "$scratch/devinfo"
}

lists_gid() {
	grep 'GID\[' "$scratch/devinfo"
	grep -qE 'GID\[ *0\]:.*fe80:.*RoCE v2' "$scratch/devinfo"
}

# counts SERVER...: rdma must count a waiting program's objects, name it, and forget it after its end.
counts() {
	local pid text status=0
	"$@" >"$scratch/server" 2>&1 </dev/null &
	pid=$!
	if ! within 20 listening 18515; then
		cat "$scratch/server"
		kill $pid
		return 1
	fi
	text=$(rdma resource show qp link "$device/1"; rdma resource show mr dev "$device"; rdma resource show cq dev "$device")
	echo "$text"
	grep -q 'type RC' <<<"$text" || status=1
	grep -q "comm ${1:0:15}" <<<"$text" || status=1
	grep -q 'mrn' <<<"$text" || status=1
	grep -q 'cqe' <<<"$text" || status=1
	kill $pid
	wait $pid
	return $status
}

run ibv_devinfo -v -d "$device" >"$scratch/devinfo"
ok 'ibv_devinfo -v' says "hca_id:	$device" cat "$scratch/devinfo"
ok 'transport' is transport 'InfiniBand \(0\)'
ok 'one port' is phys_port_cnt 1
ok 'link layer' is link_layer Ethernet
ok 'state' is state 'PORT_ACTIVE \(4\)'
ok 'max_mtu' is max_mtu '4096 \(5\)'
ok 'active_mtu' is active_mtu '4096 \(5\)'
ok 'GID 0' lists_gid
ok 'max_qp' at_least max_qp 16384
ok 'max_qp_wr' at_least max_qp_wr 16384
ok 'max_cq' at_least max_cq 16384
ok 'max_cqe' at_least max_cqe 1048576
ok 'max_mr' at_least max_mr 16384
ok 'max_pd' at_least max_pd 16384
ok 'max_sge' at_least max_sge 32
ok 'max_qp_rd_atom' at_least max_qp_rd_atom 128
ok 'gid_tbl_len' at_least gid_tbl_len 32
ok 'pkey_tbl_len' is pkey_tbl_len 1
ok 'num_comp_vectors' at_least num_comp_vectors 1
ok 'rdma link' says "link $device/1 state ACTIVE" rdma link show "$device/1"
ok 'rdma resource show of a program' counts ibv_rc_pingpong -d "$device" -g 0
ok 'and of none' says "$device: $idle" rdma resource show "$device"
finish
