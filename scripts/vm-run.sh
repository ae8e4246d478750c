#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# vm-run.sh KERNEL [TEST...]: builds all that the VM tests need and runs them, or all of them, in one guest
# of one of qemu-images/kernels. Logs: build/vm-run/KERNEL.
set -euo pipefail
tree=$(dirname "$(dirname "$(realpath "$0")")")
kernel=${1:?usage: vm-run.sh KERNEL [TEST...]}
shift
job=$tree/build/vm-run/$kernel

"$tree/scripts/vm-stage.sh" "$kernel" "$job"
make -s -C "$tree/tests/vm"
mkdir -p "$job/logs"

# The guest may need as long as its tests, and a minute to come and go.
export VM_TIMEOUT=${VM_TIMEOUT:-$(($("$tree/scripts/run-tests.sh" --limit "$@") + 60))}
exec "$tree/scripts/vm-boot.sh" "$kernel" "$job" env BELLHOP_LOGS=/run/job/logs scripts/run-tests.sh "$@"
