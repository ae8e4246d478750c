#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shell.sh: shellcheck over every shell script.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

not_followed=(
	# What a trap or another function's argument names is not unreachable.
	--exclude=SC2317
)
{
	find . -path ./build -prune -o -name '*.sh' -print
	# A program that runs once, at the guest's or the shell's call, is named without a suffix.
	echo .ci/run qemu-images/init
} | xargs shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR "${not_followed[@]}"
