#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# kernel-doc.sh: that the descriptions of functions and structs name what is there, all of it.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
kernel_doc=$(find /usr/lib/linux-kbuild-*/scripts -name kernel-doc | sort -V | tail -n 1)
find kernel uapi -name '*.[ch]' | sort | xargs "$kernel_doc" -none -Werror
