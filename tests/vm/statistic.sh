#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# statistic.sh: what people look at when something is wrong: rdma statistic, the files of the port, and rdma resource.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
port=/sys/class/infiniband/$device/ports/1

# grows FILE COMMAND...: the number in the file must grow.
grows() {
	local file=$1 before after
	shift
	before=$(<"$file")
	"$@" || return
	sleep 0.05
	after=$(<"$file")
	echo "$file: $before, then $after"
	[ "$after" -gt "$before" ]
}

# all_are_numbers: each file of both folders.
all_are_numbers() {
	local file
	for file in "$port"/counters/* "$port"/hw_counters/*; do
		grep -qE '^[0-9]+$' "$file" || { echo "$file: $(cat "$file")"; return 1; }
	done
	ls "$port/counters" "$port/hw_counters"
}

pingpong() {
	pair 18515 ibv_rc_pingpong -d "$device" -g 0 "$@" -- ibv_rc_pingpong -d "$device" -g 0 "$@" localhost
}

ok 'counters are numbers' all_are_numbers
ok 'port_xmit_data' grows "$port/counters/port_xmit_data" pingpong
ok 'port_rcv_packets' grows "$port/counters/port_rcv_packets" pingpong
ok 'kicks' grows "$port/hw_counters/kicks" pingpong
ok 'rdma statistic show' says 'rnr_waits' rdma statistic show link "$device/1"
ok 'with all names' says 'dropped_qkey_mismatch' rdma statistic show link "$device/1"
ok 'perftest -W' measures ib_write_bw -W counters/port_xmit_data,hw_counters/kicks -n 1000
finish
