#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# load_test.sh: libibverbs itself finds, loads and matches the provider; no kernel device needed.
#
# usage: load_test.sh FOLDER-OF-THE-LIBRARY
#
# libibverbs loads providers only when it sees a device that nothing matches yet, so the test shows
# it one: a made-up sysfs with one uverbs device, behind a device file that is looked at and
# never opened. Prints TAP.
set -u
export LC_ALL=C

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

[ $# -eq 1 ] || { echo "usage: $0 FOLDER-OF-THE-LIBRARY" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || skip "needs root, for a file in /dev/infiniband"
command -v ibv_devices >/dev/null || skip "needs ibv_devices (ibverbs-utils)"
[ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] ||
	skip "this host has RDMA devices, and libibverbs would look at them instead"

# libibverbs takes a name that begins with / for a path.
library=$(ls "$(realpath "$1")"/libbellhop-rdmav*.so) || exit 1
# What is left when the ABI number and the ending go is what a driver file would name.
drivers=${library%-rdmav*.so}
sysfs=$(mktemp -d)
chardev=/dev/infiniband/uverbs-bellhop-load-test
made_folder=

cleanup() {
	rm -rf "$sysfs"
	rm -f "$chardev"
	[ -z "$made_folder" ] || rmdir /dev/infiniband 2>/dev/null
}
trap cleanup EXIT

# device NAME ABI: the one device that there is.
device() {
	rm -rf "${sysfs:?}"/*
	uverbs=$sysfs/class/infiniband_verbs/uverbs-bellhop-load-test
	mkdir -p "$uverbs" "$sysfs/class/infiniband/$1/device"
	echo 6 >"$sysfs/class/infiniband_verbs/abi_version"
	echo "$1" >"$uverbs/ibdev"
	echo 231:192 >"$uverbs/dev"
	echo "$2" >"$uverbs/abi_version"
	echo "1: CA" >"$sysfs/class/infiniband/$1/node_type"
	echo 0200:00ff:fe00:0001 >"$sysfs/class/infiniband/$1/node_guid"
}

list() {
	SYSFS_PATH=$sysfs RDMAV_DRIVERS=$drivers IBV_SHOW_WARNINGS=1 ibv_devices 2>&1
}

count=0
failed=0

# check NAME STATUS: one TAP line.
check() {
	count=$((count + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $count $1"
	else
		failed=$((failed + 1))
		echo "not ok $count $1"
		echo "$output" | sed 's/^/# /'
	fi
}

contains() {
	echo "$output" | grep -q "$@"
}

[ -d /dev/infiniband ] || { mkdir /dev/infiniband && made_folder=yes; }
: >"$chardev" || skip "cannot make $chardev"
abi=$(sed -n 's/^#define BELLHOP_ABI_VERSION //p' "$(dirname "$0")/../../../uapi/rdma/bellhop-abi.h")

echo 1..3
device bell0 "$abi"
output=$(list)
status=$?
[ $status -eq 0 ] && contains '^ *bell0 .*020000fffe000001' && ! contains -i warning
check "a device with our name and ABI is listed" $?

device bell0 $((abi + 1))
output=$(list)
status=$?
[ $status -eq 0 ] && ! contains '^ *bell0 ' && contains \
	"bellhop does not support the kernel ABI of $((abi + 1)) (supports $abi to $abi)"
check "another ABI gets libibverbs' own warning and is not listed" $?

device other0 "$abi"
output=$(list)
status=$?
[ $status -eq 0 ] && ! contains '^ *other0 ' && ! contains "couldn't load" &&
	contains "no userspace device-specific driver found for other0"
check "somebody else's device is left alone" $?

[ $failed -eq 0 ]
