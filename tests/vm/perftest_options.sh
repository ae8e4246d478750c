#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# perftest_options.sh: perftest's tools with each option that is not a matter of another test, once with every operation
# that the tool lets it have. Over rdma_cm there is no UC and no XRC, and on-demand paging has no atomics: so the tool
# says itself. So few iterations that a guest does all within minutes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

v4=10.8.0.1
bw='ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw'
lat='ib_write_lat ib_read_lat ib_send_lat ib_atomic_lat'

# each TOOLS OPTION...: every one of them with the options.
each() {
	local tools=$1 tool
	shift
	for tool in $tools; do
		ok "$tool $*" measures "$tool" "$@"
	done
}

# connected TOOL OPTION...: the two find each other by rdma_cm.
connected() {
	reported cm "$1" -d "$device" "${@:2}" -- "$1" -d "$device" "${@:2}" $v4 || return
	grep -qE '^ *[0-9]+ +[0-9]+ ' "$scratch/client" || { cat "$scratch/client"; return 1; }
}

ok 'huge pages' run sysctl -w vm.nr_hugepages=64
each "$bw" --mr_per_qp -q 4 -n 100
each "$bw" -Q 1 -n 200
each "$bw" -t 1 -n 200
each "$bw" -t 4096 -n 5000 -s 8
each "$bw" -D 1
each "$bw" --use_hugepages -n 200
each 'ib_write_bw ib_send_bw' --rate_limit=1 --rate_limit_type=SW -n 100 -s 1024
each 'ib_write_bw' -u 20 -S 3 -n 200
each 'ib_write_bw' --report_gbits -n 200
each 'ib_write_bw' -N -n 200
each 'ib_write_bw' -D 1 --cpu_util
each 'ib_write_bw' --disable_pcie_relaxed -n 200
each 'ib_write_bw' --tclass=96 -n 200
each 'ib_write_bw' -W counters/port_xmit_data,hw_counters/kicks -n 200
each 'ib_write_bw' --out_json --out_json_file="$scratch/report.json" -n 200
# ib_atomic_bw waits for ever when it is to warm up, on rdma_rxe as well.
each 'ib_write_bw ib_read_bw' --perform_warm_up -n 200
each 'ib_write_bw ib_read_bw ib_send_bw' -m 256 -n 200
each 'ib_write_bw ib_read_bw ib_send_bw' --odp -n 200
each 'ib_write_bw ib_send_bw' -I 64 -s 64 -n 200
each 'ib_write_bw' -c UC -q 4 -n 100
each 'ib_write_bw ib_send_bw' --reversed -n 200
each 'ib_read_bw ib_atomic_bw' -o 1 -n 200
each 'ib_send_bw' -r 1 -n 50
each 'ib_send_bw' --recv_post_list=8 -l 8 -n 800
# The tool waits for all messages, and what finds no receive is lost: so there is one for each (-r).
each 'ib_send_bw' -c UC -q 4 -n 100 -r 100
each 'ib_send_bw' -c UD -q 4 -n 200 -r 200
# An SRQ has receives for as many messages as one QP sends, whatever -r says.
each 'ib_send_bw' -c UD --use-srq -n 200 -r 200
each 'ib_send_bw' -c UC --use-srq -n 200 -r 200
each 'ib_send_bw' -c UD -e -n 200 -r 200
each 'ib_send_bw' -c UC -e -X 1 -n 200 -r 200
each "$lat" -D 1
each "$lat" --use_hugepages -n 200
each "$lat" -H -U -n 200
each 'ib_write_lat ib_read_lat ib_send_lat' --odp -n 200
each 'ib_write_lat ib_send_lat' -I 64 -s 64 -n 200
each 'ib_read_lat ib_atomic_lat' -o 1 -n 200
each 'ib_send_lat' -c UD --use-srq -n 200
each 'ib_send_lat' -c UC -e -n 200
each 'ib_send_lat' -c UD -e -n 200

ok 'no huge pages' run sysctl -w vm.nr_hugepages=0
ok 'an IPv4 address' run ip address add $v4/24 dev "$device"
for tool in $bw $lat; do
	ok "$tool -R" connected "$tool" -R -n 100
	ok "$tool -z" connected "$tool" -z -n 100
done
ok 'ib_send_bw -R -c UD' connected ib_send_bw -R -c UD -n 100 -r 100
ok 'ib_send_lat -R -c UD' connected ib_send_lat -R -c UD -n 100
ok 'ib_send_bw -R -b -q 4' connected ib_send_bw -R -b -q 4 -n 100
ok 'ib_send_bw -R -e' connected ib_send_bw -R -e -n 100
ok 'ib_write_bw -R -T 96' connected ib_write_bw -R -T 96 -n 100
finish
