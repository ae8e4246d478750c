#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# load.sh [PARAMETER=VALUE...]: inserts the bellhop.ko that was built for the running kernel, and first
# the modules that it needs. Root only.
set -euo pipefail
module=$(dirname "$(dirname "$(realpath "$0")")")/build/module/$(uname -r)/bellhop.ko
[ -f "$module" ] || { echo "load.sh: $module is not there: is it built, and with the headers of that kernel?" >&2; exit 1; }

IFS=, read -ra needed <<<"$(modinfo -F depends "$module")"
# ib_uverbs makes the files that programs open, rdma_ucm those of librdmacm.
modprobe -a "${needed[@]}" ib_uverbs rdma_ucm
insmod "$module" "$@"
