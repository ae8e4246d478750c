#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# wire.sh [KERNEL]: boots two guests with a wire between them, runs perftest over bellhop and over the kernel's rdma_rxe
# in turn, and prints medians, ratios, and whether the targets of the design are reached. Fails only if something did
# not run.
set -euo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")"
kernel=${1:-bookworm}
job=$(realpath -m build/wire)
log=$job.log

mkdir -p "$job"
exec 8>"$job.lock"
flock 8
echo "building; then about five minutes in two guests (log: $log)"
rm -rf "$job"
for number in 1 2; do
	scripts/vm-stage.sh "$kernel" "$job/$number" >"$log" 2>&1 || { cat "$log"; exit 1; }
done

# guest NUMBER ROLE: one of them.
guest() {
	VM_CPUS=1 VM_MAC=52:54:00:00:00:0$1 VM_NET="stream,server=$2,addr.type=unix,addr.path=$job/socket" \
		VM_TIMEOUT=900 scripts/vm-boot.sh "$kernel" "$job/$1" scripts/wire-guest.sh "$1" /run/job/results
}

guest 1 on >>"$log" 2>&1 &
server=$!
until [ -e "$job/socket" ]; do
	kill -0 $server 2>/dev/null || { cat "$log"; exit 1; }
	sleep 0.1
done
guest 2 off | tee -a "$log"
wait $server || { cat "$log"; exit 1; }
echo
echo "kernel $(cat "build/images/$kernel/version"), $(scripts/vm-accel.sh "build/images/$kernel" | sed 's/-accel //; s/ -cpu.*//'), two guests of one processor each:"
awk -f scripts/table.awk -f scripts/wire-table.awk "$job/2/results"
