#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# vm-run.sh KERNEL [TEST...]: builds all that the VM tests need and runs them, or all of them, in one guest
# of one of qemu-images/kernels. Logs: build/vm-run/KERNEL, or the folder VM_JOB. What the environment says of
# BELLHOP_* holds in the guest as well: BELLHOP_HOSTILE_SECONDS=300 vm-run.sh bookworm hostile_rings
set -euo pipefail
tree=$(dirname "$(dirname "$(realpath "$0")")")
kernel=${1:?usage: vm-run.sh KERNEL [TEST...]}
shift
job=${VM_JOB:-$tree/build/vm-run/$kernel}

BELLHOP_PATIENCE=$(awk -v name="$kernel" '$1 == name { print $3 }' "$tree/qemu-images/kernels")
export BELLHOP_PATIENCE
# The guest may need as long as its tests, and two minutes to come and go.
seconds=$("$tree/scripts/run-tests.sh" --limit "$@")
export VM_TIMEOUT=${VM_TIMEOUT:-$((seconds + 120))}

# Two runs in one folder would delete each other's files.
mkdir -p "$(dirname "$job")"
exec 8>"$job.lock"
flock --nonblock 8 || { echo "vm-run.sh: waiting for another run in $job" >&2; flock 8; }

"$tree/scripts/vm-stage.sh" "$kernel" "$job"
make -s -j2 -C "$tree/tests/vm"
mkdir "$job/logs"

export BELLHOP_LOGS=/run/job/logs
mapfile -t settings < <(env | grep '^BELLHOP_')
exec "$tree/scripts/vm-boot.sh" "$kernel" "$job" env "${settings[@]}" scripts/run-tests.sh "$@"
