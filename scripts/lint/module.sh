#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# module.sh [CHECKER [OPTION...]]: builds the module in build/lint, with more warnings than its own build has,
# as errors. A checker is then given each source, and may say nothing about our files; what it says about the
# kernel's headers is left out.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
out=$PWD/build/lint/module

warnings=(
	-Werror -fanalyzer
	# W=1 does not turn these on, although the kernel's headers pass.
	-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wnull-dereference -Wjump-misses-init
)
# The same options for all checkers, so that the compiler runs once.
build() {
	MODULES=$out scripts/build-module.sh '' W=1 KCFLAGS="${warnings[*]}" "$@" 2>&1
}

[ $# -gt 0 ] || {
	build
	exit
}
said=$(build C=2 CHECK="$*") || {
	grep -v '^/usr/src/.*: warning: ' <<<"$said"
	exit 1
}
! grep "^$out/[^ ]*:[0-9]" <<<"$said"
