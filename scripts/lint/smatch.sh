#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# smatch.sh: smatch over the module, where there is one: no Debian package has it.
command -v smatch >/dev/null || {
	echo 'no smatch on the PATH, and Debian has no package of it'
	exit 4
}
exec "$(dirname "$(realpath "$0")")/module.sh" smatch --project=kernel
