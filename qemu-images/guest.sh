#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# guest.sh: the guest's side of scripts/vm-boot.sh. Runs the command it finds in the job folder,
# with the guest's report port as its output, says on the verdict port that it begins and how that ended, and powers off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8

# port NAME: prints the device of a virtio-serial port; without udev no link carries its name.
port() {
	local name
	for name in /sys/class/virtio-ports/*/name; do
		if [ "$(cat "$name")" = "$1" ]; then
			name=${name%/name}
			echo "/dev/${name##*/}"
		fi
	done
}

word() {
	tr ' ' '\n' </proc/cmdline | sed -n "s,^guest.$1=,,p"
}

# Waited for: an emulator may stand still before that.
echo begun >"$(port verdict)"

mount -t tmpfs tmpfs /run
mkdir -p /dev/shm /dev/pts /run/job /lib/modules
ln -s /proc/self/fd /dev/fd
mount -t tmpfs tmpfs /dev/shm
mount -t devpts devpts /dev/pts
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none job /run/job
mount --bind "$(word image)/lib/modules" /lib/modules
# What "make install" would put there; job/root was made by it.
if [ -d /run/job/root ]; then
	cp -r --no-preserve=ownership /run/job/root/. /
fi

# Not the host's, which may lack even these.
printf '127.0.0.1 localhost guest\n::1 localhost\n' >/etc/hosts
ip link set lo up
ulimit -l unlimited
sysctl -q kernel.hung_task_timeout_secs=60
hostname guest

# The kernel changes the code of its UDP sockets when the first one opens that encapsulates something, as those of
# devices between hosts do, and when the last one closes. A processor that is emulated, and is running that code, may be
# left with a breakpoint that is not there any more, for ever. With sockets that stay the code stays.
perl -MSocket -e '
	for my $family (AF_INET, AF_INET6) {
		socket(my $socket, $family, SOCK_DGRAM, 0) or next;
		setsockopt($socket, 17, 100, pack("i", 3)); # IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_L2TPINUDP
		push @sockets, $socket;
	}
	sleep' &

(
	cd "$(word tree)" || exit 125
	# shellcheck source=/dev/null
	. /run/job/command
) >"$(port report)" 2>&1 </dev/null
status=$?

# A kernel that looks for leaks is asked twice: what is leaked is still there then, and old enough. What it says
# goes to its log, which scripts/kernel-log.sh reads.
leaks=/sys/kernel/debug/kmemleak
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
if [ -e $leaks ]; then
	echo scan >$leaks
	sleep 6
	echo scan >$leaks
	sed 's/^/<4>/' $leaks >/dev/kmsg
fi
echo "status $status" >"$(port verdict)"

sync
busybox poweroff -f
