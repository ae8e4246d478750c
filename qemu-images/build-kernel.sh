#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# build-kernel.sh IMAGE SOURCE FRAGMENT...: builds a kernel of a Debian package of kernel sources that is installed,
# with the options of the FRAGMENTs and no others, into the folder IMAGE: boot/vmlinuz-*, lib/modules/*, headers (the
# sources and what was built of them), version. Six minutes on two processors.
set -euo pipefail
image=${1:?usage: build-kernel.sh IMAGE SOURCE FRAGMENT...}
source=$2
shift 2
mapfile -t fragments < <(realpath "$@")

rm -rf "$image"
mkdir -p "$image/headers" "$image/boot"
cd "$image/headers"
tar -xJf "/usr/src/$source.tar.xz" --strip-components=1
cat "${fragments[@]}" >wanted.config
make -s allnoconfig KCONFIG_ALLCONFIG=wanted.config
# Kconfig is silent about an option that it does not grant.
if grep '^CONFIG' wanted.config | grep -vxF -f .config; then
	echo "build-kernel.sh: these options of $* are not granted" >&2
	exit 1
fi
# If there is KCSAN, the module alone is built for it: the rest of the kernel is not ours to judge.
make -s -j"$(nproc)" KCSAN_SANITIZE=n bzImage modules
release=$(make -s kernelrelease)
make -s INSTALL_MOD_PATH="$image" modules_install
cp arch/x86/boot/bzImage "$image/boot/vmlinuz-$release"
echo "$release" >"$image/version"
