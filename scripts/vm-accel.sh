#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# vm-accel.sh IMAGE: prints the QEMU arguments that choose processor and accelerator. /dev/kvm may exist
# and not work, a guest then hangs in real mode: a bounded boot tells. The answer is kept in build/.
set -euo pipefail
image=$1
cache=$(dirname "$0")/../build/vm-accel

# Erms makes every large copy of a TCG guest run byte by byte.
tcg='-accel tcg,thread=multi -cpu max,-erms,-fsrm'
kvm='-accel kvm -cpu host'

# boots ACCEL...: whether a guest reaches its first program within 10 seconds.
boots() {
	local console
	console=$(mktemp)
	timeout --foreground -s KILL 10 qemu-system-x86_64 -machine q35 "$@" -m 256M -smp 2 -nodefaults -display none -no-reboot \
		-serial "file:$console" -kernel "$image"/boot/vmlinuz-* -initrd "$image/initrd" \
		-append 'console=ttyS0 quiet panic=-1 guest.probe' </dev/null >"$console.qemu" 2>&1 || true
	grep -aq 'bellhop: booted' "$console"
	local status=$?
	rm -f "$console" "$console.qemu"
	return $status
}

question="$(cat /proc/sys/kernel/random/boot_id) $(id -u)"
if [ ! -f "$cache" ] || [ "$(head -n 1 "$cache")" != "$question" ]; then
	answer=$tcg
	# shellcheck disable=SC2086 # the words are separate arguments
	if [ -w /dev/kvm ] && boots $kvm; then
		answer=$kvm
	fi
	printf '%s\n%s\n' "$question" "$answer" >"$cache"
fi
tail -n 1 "$cache"
