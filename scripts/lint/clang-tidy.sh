#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# clang-tidy.sh: clang-tidy over the provider, the pure core and the tests in C++. .clang-tidy and
# tests/.clang-tidy say which checks, and why not others.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
out=build/lint
mkdir -p $out
scripts/lint/compile-commands.sh >$out/compile_commands.json
# It counts on stderr what it found and does not show, for each file.
sed -n 's/.*"file": "\([^"]*\)".*/\1/p' $out/compile_commands.json |
	xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p $out 2> >(grep -v 'warnings\? .*generated' >&2)
