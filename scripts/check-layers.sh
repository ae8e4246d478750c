#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# check-layers.sh: that dependencies point one way:
#
#	uapi <- kernel/proto <- kernel        uapi <- userspace        nothing includes tests/
#
# Each folder has a pattern of what its files may include; another include is an error.
set -uo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")" || exit 1
status=0

# layer FOLDER PATTERN
layer() {
	local includes bad
	includes=$(find "$1" -maxdepth 1 \( -name '*.[ch]*' -o -name '*.pml' \) -exec grep -HnE '^[[:space:]]*#[[:space:]]*include' {} +)
	if [ -z "$includes" ]; then
		echo "$1: no file with an include: is the folder still there?"
		status=1
		return
	fi
	bad=$(grep -vE "#[[:space:]]*include(_next)? *[<\"]($2)[>\"]" <<<"$includes") || return
	printf '%s may not include:\n%s\n' "$1" "$bad"
	status=1
}

# A model includes models.
own='[a-z0-9_]+\.(h|hpp|pml)'
kernel_headers='(linux|crypto|rdma|net|asm|uapi/rdma)/[a-z0-9_/-]+\.h'

layer uapi/rdma '(linux/types|rdma/bellhop-[a-z]+)\.h'
layer kernel/proto "$own|rdma/bellhop-abi\.h|(asm/[a-z]+|linux/(build_bug|compiler|crc32|errno|nospec|string|types)|assert|errno|stdbool|stddef|string|zlib)\.h"
layer kernel "$own|proto/$own|compat/(ops|crc32)\.h|$kernel_headers"
layer kernel/compat "$own|\.\./$own|$kernel_headers"
layer kernel/compat/linux '(linux|asm)/[a-z0-9_-]+\.h'
layer kernel/compat/rdma 'rdma/[a-z_]+\.h'
# The standard library has no suffix; the system's headers are libc's and the kernel's user API.
layer userspace "$own|[a-z_]+|rdma/[a-z_-]+\.h|infiniband/[a-z_]+\.h|sys/[a-z]+\.h|[a-z]+\.h"

if grep -rnE '#[[:space:]]*include.*tests/' uapi kernel userspace; then
	echo 'nothing may include tests/'
	status=1
fi
if grep -rnE '#[[:space:]]*include.*kernel/' userspace uapi kernel/proto; then
	echo 'only kernel/ and tests/ may include kernel/'
	status=1
fi
exit $status
