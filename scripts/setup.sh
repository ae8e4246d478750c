#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# setup.sh: installs the Debian packages that building, testing and the demo need; quick if all are there.
# Needs root or sudo only if something is missing.
set -euo pipefail

packages=(
	# the module
	build-essential linux-headers-amd64 kmod
	# the provider
	libibverbs-dev librdmacm-dev pkg-config
	# unit tests, fuzzers, benchmarks, checks
	libgtest-dev libbenchmark-dev zlib1g-dev clang libclang-rt-dev llvm clang-format
	# lint; its checkpatch comes with the sources of the kernel
	shellcheck sparse clang-tidy
	# models
	spin
	# the kernel of check-debug
	linux-source-6.1 flex bison bc libelf-dev
	# guests
	qemu-system-x86 busybox-static cpio xz-utils zstd procps
	# what guests run
	iproute2 rdma-core ibverbs-utils rdmacm-utils perftest python3-pyverbs
	libfabric-bin ucx-utils openmpi-bin python3-mpi4py qperf fio tshark
)

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "setup.sh: cannot install packages: neither root nor sudo: $*" >&2
		exit 1
	fi
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
for package in "${packages[@]}"; do
	installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing: ${missing[*]}"
install=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install)
# The lists may be missing, or name packages that the archive no longer has.
if ! as_root "${install[@]}" "${missing[@]}" >/dev/null 2>&1; then
	as_root apt-get -qq update
	as_root "${install[@]}" "${missing[@]}" >/dev/null
fi
