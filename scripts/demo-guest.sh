#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# demo-guest.sh MEMCPY RESULTS: measures bell0 and rxe0 in the guest it runs in, turn by turn with the same
# options, and writes one line per number to RESULTS: measure, device, value.
set -euo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")"
memcpy=$1 results=$2
rounds=3
scratch=$(mktemp -d)
# shellcheck source=pair.sh
. scripts/pair.sh

# measure DEVICE NAME COLUMNS TOOL OPTION...: COLUMNS names columns of the tool's table, as measure=column.
measure() {
	local device=$1 columns=$2 column
	shift 2
	# Perftest knows neither device, so inline sending is off for both; the interface is made the same too.
	perftest "$device" "$@" --use_old_post_send >"$scratch/log" || { cat "$scratch/log"; return 1; }
	for column in $columns; do
		awk -v measure="${column%=*}" -v device="${device%0}" -v column="${column#*=}" '
			/^ *[0-9]+ +[0-9]+ +[-0-9]/ { print measure, device, $column; found = 1 }
			END { exit !found }' "$scratch/client" >>"$results"
	done
}

scripts/load.sh
scripts/rxe.sh rxe0
: >"$results"
for round in $(seq $rounds); do
	echo "round $round of $rounds"
	"$memcpy" | awk '{ print "memcpy_" $1, "-", $2 }' >>"$results"
	for device in bell0 rxe0; do
		for verb in write send read; do
			measure $device "${verb}_lat=5 ${verb}_lat_999=9" ib_${verb}_lat -s 8 -n 2000
			measure $device "${verb}_bw_65536=4" ib_${verb}_bw -s 65536 -n 2000
		done
		measure $device write_bw_1048576=4 ib_write_bw -s 1048576 -n 150
		measure $device write_rate=5 ib_write_bw -s 8 -n 20000
		measure $device atomic_rate=5 ib_atomic_bw -n 5000
		measure $device ud_rate=5 ib_send_bw -c UD -s 1024 -n 10000 -r 10000
		measure $device srq_bw=4 ib_send_bw --use-srq -s 65536 -n 2000
	done
done
rmmod bellhop
