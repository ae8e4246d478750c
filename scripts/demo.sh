#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# demo.sh [KERNEL]: boots one guest with bellhop and the kernel's rdma_rxe, runs perftest on both in turn, and
# prints medians, ratios, and whether the targets of the design are reached. Fails only if something did not run.
set -euo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")"
kernel=${1:-bookworm}
job=build/demo
log=build/demo.log

mkdir -p build
exec 8>$job.lock
flock 8
echo "building; then about three minutes in a guest (log: $log)"
scripts/vm-stage.sh "$kernel" $job >$log 2>&1 || { cat $log; exit 1; }
g++ -std=c++20 -O2 -Wall -Wextra -Werror scripts/memcpy.cpp -o $job/memcpy
VM_TIMEOUT=600 scripts/vm-boot.sh "$kernel" $job scripts/demo-guest.sh /run/job/memcpy /run/job/results | tee -a $log
echo
echo "kernel $(cat "build/images/$kernel/version"), $(scripts/vm-accel.sh "build/images/$kernel" | sed 's/-accel //; s/ -cpu.*//'), 2 processors:"
awk -f scripts/table.awk -f scripts/demo-table.awk $job/results
