#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# teardown.sh: programs killed, devices deleted and the module removed in the middle of traffic: each is over
# in seconds, the other end of a killed server hears of it, and no memory is lost.
#
#	bell0, and bell1 on dummy0
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# flows DEVICE: whether a QP of it is ready to send.
flows() {
	rdma resource show qp link "$1/1" | grep -q 'state RTS'
}

# start DEVICE TOOL: both ends of traffic that lasts, as the processes $server and $client.
start() {
	"$2" -d "$1" -s 1048576 -D 90 >"$scratch/server" 2>&1 </dev/null &
	server=$!
	within 20 listening 18515 || { cat "$scratch/server"; return 1; }
	"$2" -d "$1" -s 1048576 -D 90 localhost >"$scratch/client" 2>&1 </dev/null &
	client=$!
	within 20 flows "$1" || { cat "$scratch/client"; return 1; }
	sleep 0.5
}

# end PID...: kills what still runs; nothing may remain.
end() {
	local pid
	kill -KILL "$@" 2>/dev/null
	for pid in "$@"; do
		within 10 gone "$pid" || return
	done
}

nothing_left() {
	rdma resource show "$1" | grep -qF "$idle"
}

# kill_one server|client TOOL: a client must notice by itself that its server is gone. A server has nothing
# to notice while it waits for messages, and is killed in turn.
kill_one() {
	start "$device" "$2" || return
	echo "\$ kill -KILL $1 of $2"
	kill -KILL "${!1}"
	within 10 gone "${!1}" || return
	if [ "$1" = server ]; then
		within 30 gone "$client" || return
		grep -i 'error\|fail' "$scratch/client"
	fi
	end "$server" "$client" && within 10 nothing_left "$device"
}

kill_both() {
	start "$device" ib_write_bw && end "$server" "$client" && within 10 nothing_left "$device"
}

kill_round() {
	local tool
	for tool in ib_write_bw ib_read_bw ib_send_bw; do
		ok "round $1: the server of $tool is killed" kill_one server $tool
		ok "round $1: the client of $tool is killed" kill_one client $tool
	done
	ok "round $1: both are killed" kill_both
}

# memory NAME: KiB free, in slabs and in vmalloc once caches are dropped, as shell assignments.
memory() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	awk -v name="$1" '
		$1 == "MemFree:" { free = $2 }
		$1 == "Slab:" { slab = $2 }
		$1 == "VmallocUsed:" { vmalloc = $2 }
		END { printf "%s_free=%d %s_slab=%d %s_vmalloc=%d\n", name, free, name, slab, name, vmalloc }
	' /proc/meminfo
}

# A kernel with KASAN remembers where each piece of memory came from and keeps what was freed for a while: there free
# memory says nothing, and the search for leaks at the end says more.
keeps_freed_memory() {
	grep -q ' kasan_save_stack$' /proc/kallsyms
}

# Two rounds kill 28 programs, each with a buffer of 2 MiB and rings of its own.
no_memory_lost() {
	local before_free before_slab before_vmalloc after_free after_slab after_vmalloc
	eval "$1 $(memory after)"
	echo "free: $before_free -> $after_free KiB"
	echo "slab: $before_slab -> $after_slab KiB"
	echo "vmalloc: $before_vmalloc -> $after_vmalloc KiB"
	{ keeps_freed_memory || [ $((before_free - after_free)) -lt 16384 ]; } &&
		[ $((after_slab - before_slab)) -lt 4096 ] &&
		[ $((after_vmalloc - before_vmalloc)) -lt 768 ]
}

# remove COMMAND...: takes bell1 away from running programs, which live on until they are told to end.
remove() {
	run rdma link add bell1 type bellhop netdev dummy0 || return
	start bell1 ib_write_bw || return
	limit=20 run "$@" || return
	within 10 test ! -e /sys/class/infiniband/bell1 || return
	sleep 0.5
	cat "$scratch/client"
	end "$server" "$client"
}

# Whether rmmod refuses or not: it answers, and the programs can end afterwards.
rmmod_in_use() {
	local status=0
	start "$device" ib_write_bw || return
	limit=20 run rmmod bellhop || status=$?
	echo "status $status"
	end "$server" "$client" && [ $status -le 1 ]
}

# The module may be gone already.
rmmod_afterwards() {
	within 10 nothing_left "$device"
	! grep -q '^bellhop ' /proc/modules || unload
}

modprobe dummy numdummies=0
ip link add dummy0 type dummy
ip link set dummy0 up

# The first round fills the kernel's caches.
kill_round 0
before=$(memory before)
for round in 1 2; do
	kill_round $round
done
ok 'no memory is lost by kills' no_memory_lost "$before"

ok 'rdma link delete under traffic' remove rdma link delete bell1
ok 'the same again' remove rdma link delete bell1
ok 'ip link delete under traffic' remove ip link delete dummy0
ok 'bell0 works after that' measures ib_write_bw -n 500
ok 'no memory is lost by removal' no_memory_lost "$before"
ok 'rmmod under traffic' rmmod_in_use
ok 'rmmod afterwards' rmmod_afterwards
ok 'insmod after that' load
ok 'and traffic' measures ib_write_bw -n 500
finish
