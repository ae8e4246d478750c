#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# build-module.sh [HEADERS [ARGUMENT...]]: builds $MODULES/<release>/bellhop.ko, by default in build/module,
# against a folder of kernel headers; the arguments are for make. Kbuild writes beside the sources, so it is
# given a folder of links to them: the tree stays clean, and kernels stay apart. Without HEADERS, or with '':
# those of the running kernel, else the newest that are installed.
set -euo pipefail
tree=$(dirname "$(dirname "$(realpath "$0")")")

newest() {
	find /usr/src -maxdepth 1 -name 'linux-headers-*-amd64' ! -name '*-cloud-amd64' ! -name '*-rt-amd64' |
		sort -V | tail -n 1
}

headers=${1:-/lib/modules/$(uname -r)/build}
if [ ! -d "$headers" ] && [ -z "${1:-}" ]; then
	headers=$(newest)
	echo "build-module.sh: there are no headers of the running kernel, $(uname -r); taking ${headers:-none}" >&2
fi
[ -d "$headers" ] || {
	echo "build-module.sh: no kernel headers in ${headers:-/usr/src}" >&2
	exit 1
}
release=$("$tree/scripts/kernel-release.sh" "$headers")
out=${MODULES:-$tree/build/module}/$release

mkdir -p "$out"
exec 9>"$out/.lock"
flock 9

find "$out" -type l -delete
cp -rsT "$tree/kernel" "$out/kernel"
cp -rsT "$tree/uapi" "$out/uapi"
ln -s "$tree/Kbuild" "$out/Kbuild"
make --no-print-directory -j"$(nproc)" -C "$headers" M="$out" "${@:2}" modules
