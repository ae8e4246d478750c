#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# vm-stage.sh KERNEL JOB: builds the module for a guest's kernel and the provider, and makes JOB a job folder
# for vm-boot.sh in which the provider is installed.
set -euo pipefail
tree=$(dirname "$(dirname "$(realpath "$0")")")
kernel=$1 job=$(realpath -m "$2")

"$tree/qemu-images/build.sh" "$kernel"
"$tree/scripts/build-module.sh" "$tree/build/images/$kernel/headers"
make -s -C "$tree/userspace"
rm -rf "$job"
mkdir -p "$job"
make -s -C "$tree/userspace" install DESTDIR="$job/root"
