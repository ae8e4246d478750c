#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# install-module.sh: copies the module that was built for the running kernel to where modprobe finds it, below
# DESTDIR if that is set. Root only.
set -euo pipefail
release=$(uname -r)
module=$(dirname "$(dirname "$(realpath "$0")")")/build/module/$release/bellhop.ko
[ -f "$module" ] || { echo "install-module.sh: $module is not there: make module" >&2; exit 1; }

install -D -m 644 "$module" "${DESTDIR:-}/lib/modules/$release/updates/bellhop.ko"
# A package's own scripts do this on the machine that it is installed on.
[ -n "${DESTDIR:-}" ] || depmod "$release"
