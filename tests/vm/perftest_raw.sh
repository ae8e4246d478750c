#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# perftest_raw.sh: perftest's raw_ethernet tools: two of them over one device, with flows of each kind that they can
# make. Not raw_ethernet_burst_lat: it limits its own rate, and says that no latency test can have that.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

here=02:00:00:00:00:01
there=02:00:00:00:00:02
ips=(-J 10.1.1.2 -j 10.1.1.1)
ips6=(-J fd00:1::2 -j fd00:1::1)
ports=(-K 5002 -k 5001)

# raw TOOL OPTION...: a server and a client that sends to it. They do not talk to each other but by frames.
raw() {
	local tool=$1
	shift
	reported raw "$tool" --server -d "$device" -B $there -E $here "$@" -- \
		"$tool" --client -d "$device" -B $here -E $there "$@" || return
	cat "$scratch/client"
}

# With a duration, frames that the server has no time for are nobody's loss.
for options in '' '-b' '-l 8' '--use_old_post_send' '--vlan_en' '--promiscuous' '--sniffer'; do
	# shellcheck disable=SC2086 # several words
	ok "raw_ethernet_bw $options" raw raw_ethernet_bw -s 1000 -D 2 $options
done
ok 'raw_ethernet_bw, IPv4' raw raw_ethernet_bw -s 1000 -D 2 "${ips[@]}"
ok 'raw_ethernet_bw, UDP' raw raw_ethernet_bw -s 1000 -D 2 "${ips[@]}" "${ports[@]}"
ok 'raw_ethernet_bw, TCP' raw raw_ethernet_bw -s 1000 -D 2 "${ips[@]}" "${ports[@]}" --tcp
ok 'raw_ethernet_bw, IPv6' raw raw_ethernet_bw -s 1000 -D 2 --raw_ipv6 "${ips6[@]}"
ok 'raw_ethernet_bw, UDP over IPv6' raw raw_ethernet_bw -s 1000 -D 2 --raw_ipv6 "${ips6[@]}" "${ports[@]}"
ok 'raw_ethernet_bw, 8 flows' raw raw_ethernet_bw -s 1000 -D 2 "${ips[@]}" "${ports[@]}" --flows 8
ok 'raw_ethernet_bw of whole frames' raw raw_ethernet_bw -s 4000 -D 2
ok 'raw_ethernet_lat' raw raw_ethernet_lat -s 64 -n 200
ok 'raw_ethernet_lat, UDP' raw raw_ethernet_lat -s 1000 -n 200 "${ips[@]}" "${ports[@]}"
ok 'raw_ethernet_lat -D' raw raw_ethernet_lat -s 64 -D 2
ok 'raw_ethernet_fs_rate' run raw_ethernet_fs_rate --server -d "$device" -B $here -E $there -n 100
finish
