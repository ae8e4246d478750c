#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# build-kernel.sh SOURCE FRAGMENT IMAGE: builds a kernel of a Debian package of kernel sources that is installed,
# with the options of FRAGMENT and no others, into the folder IMAGE: boot/vmlinuz-*, lib/modules/*, headers (the
# sources and what was built of them), version. Six minutes on two processors.
set -euo pipefail
source=${1:?usage: build-kernel.sh SOURCE FRAGMENT IMAGE}
fragment=$(realpath "$2")
image=$3

rm -rf "$image"
mkdir -p "$image/headers" "$image/boot"
cd "$image/headers"
tar -xJf "/usr/src/$source.tar.xz" --strip-components=1
make -s allnoconfig KCONFIG_ALLCONFIG="$fragment"
# Kconfig is silent about an option that it does not grant.
if grep '^CONFIG' "$fragment" | grep -vxF -f .config; then
	echo "build-kernel.sh: these options of $fragment are not granted" >&2
	exit 1
fi
make -s -j"$(nproc)" bzImage modules
release=$(make -s kernelrelease)
make -s INSTALL_MOD_PATH="$image" modules_install
cp arch/x86/boot/bzImage "$image/boot/vmlinuz-$release"
echo "$release" >"$image/version"
