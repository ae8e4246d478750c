#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# vm-clock.sh ACCEL: prints the kernel's arguments with which a guest's clock goes as fast as the host's. An
# emulated guest reads the host's own counter, and how fast that ticks it would measure while it starts: on a busy
# host wrongly, by a factor of two and more, and all limits of time with it.
set -euo pipefail
tree=$(dirname "$(dirname "$(realpath "$0")")")
program=$tree/build/tsc-khz

[[ $1 = *tcg* && $(uname -m) = x86_64 ]] || exit 0
if [ ! "$program" -nt "$tree/scripts/tsc-khz.cpp" ]; then
	mkdir -p "$tree/build"
	c++ -std=c++20 -O1 -o "$program.$$" "$tree/scripts/tsc-khz.cpp"
	mv "$program.$$" "$program"
fi
echo "tsc_early_khz=$("$program")"
