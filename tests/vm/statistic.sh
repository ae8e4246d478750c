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

# describes OBJECT TEXT...: while a program waits that has posted 300 receives, rdma must say all of it of its objects.
describes() {
	local object=$1 pid text status=0
	shift
	ibv_rc_pingpong -d "$device" -g 0 -r 300 >"$scratch/server" 2>&1 </dev/null &
	pid=$!
	within 20 listening 18515 || status=1
	text=$(run rdma resource show "$object" -dd)
	echo "$text"
	for words in "$@"; do
		grep -qE -- "$words" <<<"$text" || { echo "does not say: $words"; status=1; }
	done
	kill $pid
	wait $pid
	return $status
}

ok 'counters are numbers' all_are_numbers
ok 'port_xmit_data' grows "$port/counters/port_xmit_data" pingpong
ok 'port_rcv_packets' grows "$port/counters/port_rcv_packets" pingpong
ok 'kicks' grows "$port/hw_counters/kicks" pingpong
ok 'rdma statistic show' says 'rnr_waits' rdma statistic show link "$device/1"
ok 'with all names' says 'dropped_qkey_mismatch' rdma statistic show link "$device/1"
ok 'a QP' describes qp 'type RC.*drv_last_reason 0 .*drv_sends_waiting 0 .*drv_receives_waiting 300 .*drv_receive_size 512 .*drv_kicks'
ok 'a CQ' describes cq 'drv_waiting 0 .*drv_overrun 0 .*drv_stamped 0' drv_moderation_count
ok 'an MR' describes mr 'drv_access 1 .*drv_runs [1-9][0-9]* .*drv_windows 0'
ok 'perftest -W' measures ib_write_bw -W counters/port_xmit_data,hw_counters/kicks -n 1000
finish
