#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# install-module.sh [HEADERS]: copies the module that was built against HEADERS, or for the running kernel, to where
# modprobe finds it, below DESTDIR if that is set. Root only.
set -euo pipefail
tree=$(dirname "$(dirname "$(realpath "$0")")")
release=$(uname -r)
[ -z "${1:-}" ] || release=$("$tree/scripts/kernel-release.sh" "$1")
module=$tree/build/module/$release/bellhop.ko
[ -f "$module" ] || { echo "install-module.sh: $module is not there: is it built, and with the headers of $release?" >&2; exit 1; }

install -D -m 644 "$module" "${DESTDIR:-}/lib/modules/$release/updates/bellhop.ko"
# A package's own scripts do this on the machine that it is installed on.
[ -n "${DESTDIR:-}" ] || depmod "$release"
