#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# vm-boot.sh KERNEL JOB COMMAND...: boots a guest of one of qemu-images/kernels, in which COMMAND runs
# as root in this tree, and prints what it prints. The guest sees the host's files; what it writes to
# them is lost, but for the folder JOB, which it finds at /run/job. JOB/root, if there is one, is laid
# over the guest's root first.
#
# Succeeds only if the guest says on a port of its own that COMMAND did, its kernel's log is clean
# (JOB/console), and it powers off in time. Environment: VM_TIMEOUT in seconds, VM_MEMORY, VM_CPUS,
# VM_APPEND (kernel command line), VM_NET (a network interface: what QEMU's -netdev takes, without an id) with VM_MAC.
set -euo pipefail
tree=$(dirname "$(dirname "$(realpath "$0")")")
kernel=$1
mkdir -p "$2"
job=$(realpath "$2")
shift 2

"$tree/qemu-images/build.sh" "$kernel"
image=$tree/build/images/$kernel
accel=$("$tree/scripts/vm-accel.sh" "$image")
clock=$("$tree/scripts/vm-clock.sh" "$accel")

printf '%q ' "$@" >"$job/command"
wire=()
[ -z "${VM_NET:-}" ] || wire=(-netdev "$VM_NET,id=wire" -device "virtio-net-pci,netdev=wire,mac=${VM_MAC:-52:54:00:00:00:01}")

# Q35, since the older machine's firmware makes a slow kernel copy tables for minutes when it routes interrupts.
# The report goes through a pipe, whatever this script's output is: QEMU opens it by name.
# shellcheck disable=SC2086 # accel is several arguments
boot() {
	timeout --foreground -s KILL "${VM_TIMEOUT:-900}" qemu-system-x86_64 -machine q35 $accel \
		-pidfile "$job/pid" -m "${VM_MEMORY:-4G}" -smp "${VM_CPUS:-2}" -nodefaults -display none -no-reboot \
		-kernel "$image"/boot/vmlinuz-* -initrd "$image/initrd" \
		-append "console=ttyS0 loglevel=6 panic=-1 oops=panic watchdog_thresh=30 net.ifnames=0 tsc=reliable $clock ${VM_APPEND:-} \
guest.home=$tree/qemu-images guest.image=$image guest.tree=$tree" \
		-serial "file:$job/console" \
		-device virtio-serial "${wire[@]}" \
		-chardev file,id=report,path=/dev/stdout -device virtserialport,chardev=report,name=report \
		-chardev "file,id=verdict,path=$job/verdict" -device virtserialport,chardev=verdict,name=verdict \
		-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$job,mount_tag=job,security_model=none,multidevs=remap" </dev/null | cat
}

stop() {
	kill -KILL "$(cat "$job/pid")" 2>/dev/null
}
trap 'stop; exit 130' INT TERM

# attempt: one guest; 75 when it did not get as far as to its first script within three minutes.
attempt() {
	local runner deadline=$((SECONDS + 180))
	rm -f "$job"/{verdict,console,pid}
	boot &
	runner=$!
	until [ -s "$job/verdict" ] || ! kill -0 $runner 2>/dev/null; do
		if [ $SECONDS -ge $deadline ]; then
			stop
			wait $runner
			return 75
		fi
		sleep 0.2
	done
	wait $runner
}

# An emulated guest stands still in its first second now and then, about once in a hundred times.
status=0
for try in 1 2 3; do
	attempt && status=0 || status=$?
	[ $status = 75 ] || break
	echo "vm-boot.sh: the guest did not start, try $try" >&2
done

# fail REASON: the end of a guest that did not do as it should.
fail() {
	echo "vm-boot.sh: $1; its console: $job/console" >&2
	tail -n 15 "$job/console" | sed 's/^/	/' >&2
	exit 1
}

[ $status != 137 ] || fail "the guest was not done within ${VM_TIMEOUT:-900} s and was killed"
[ $status != 75 ] || fail 'the guest does not start'
[ $status = 0 ] || fail "QEMU ended with status $status"
[ -s "$job/verdict" ] || fail "the guest ended without a verdict"
"$tree/scripts/kernel-log.sh" <"$job/console" >&2 || fail "the guest's kernel complained"
read -r word said < <(tail -n 1 "$job/verdict")
[ "$word" = status ] || fail "the guest's verdict makes no sense"
exit "$said"
