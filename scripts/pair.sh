# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
# pair.sh: functions to run a server program and its client side by side; nothing waits without a limit.
# To be sourced after $scratch is set to a folder. All limits are BELLHOP_PATIENCE times as long as they say.
: "${scratch:?}"

# patiently SECONDS: how long that is.
patiently() {
	echo $(($1 * ${BELLHOP_PATIENCE:-1}))
}

# bounded COMMAND...: kills it after 60 seconds ($limit). The process group stays the caller's, so that whoever
# kills the caller's group kills its programs too.
bounded() {
	timeout --foreground -s KILL "$(patiently "${limit:-60}")" "$@" </dev/null
}

# within SECONDS COMMAND...: tries a command, silently, until it returns 0; 1 if it does not in time.
within() {
	local end
	end=$((SECONDS + $(patiently "$1")))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "not in time: $*"
			return 1
		fi
		sleep 0.1
	done
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# listening PORT: whether a TCP socket waits for connections there, or with "cm", anything of rdma_cm; with "raw",
# whether a raw packet QP takes frames; of an IPv4 multicast address, whether an interface has joined it. A port behind
# a namespace's name and a colon is one there.
listening() {
	local enter=()
	if [[ $1 = *:* ]]; then
		enter=(ip netns exec "${1%:*}")
		set -- "${1##*:}"
	fi
	if [[ $1 = *.* ]]; then
		ip maddr show | grep -qE "inet +$1( |\$)"
		return
	fi
	if [ "$1" = raw ]; then
		# Its program has made flows by then, and is about to post receives.
		rdma resource show qp | grep -q 'type RAW_PACKET.*state RT[RS]' && sleep 0.5
		return
	fi
	if [ "$1" = cm ]; then
		# It is in that state a moment before it can be called.
		rdma resource show cm_id | grep -q 'state LISTEN' && sleep 0.2
		return
	fi
	"${enter[@]}" grep -qE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$1") [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6
}

# pair PORT SERVER... -- CLIENT...: starts the server, the client once the server listens on the port, and
# waits for both; both must succeed. Their output is in $scratch/server and $scratch/client.
pair() {
	local port=$1 words=() server_status=0 client_status=0 pid
	shift
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	echo "\$ ${words[*]} & $*"
	# Not "bounded", since $! is then the pid of a shell around it.
	timeout --foreground -s KILL "$(patiently "${limit:-60}")" "${words[@]}" >"$scratch/server" 2>&1 </dev/null &
	pid=$!
	if within 20 listening "$port"; then
		bounded "$@" >"$scratch/client" 2>&1 || client_status=$?
	else
		client_status=125
		: >"$scratch/client"
	fi
	if [ $client_status != 0 ] || ! within 20 gone $pid; then
		kill $pid 2>/dev/null
	fi
	wait $pid || server_status=$?
	if [ $server_status != 0 ] || [ $client_status != 0 ]; then
		echo "server: status $server_status"
		cat "$scratch/server"
		echo "client: status $client_status"
		cat "$scratch/client"
		return 1
	fi
}

# reported PORT SERVER... -- CLIENT...: a pair of perftest's tools, until it gives a report. The tool measures the
# processor's clock first and gives up where that is noisy, as it is in an emulated guest on a busy host; that says
# nothing about the device and is tried again.
reported() {
	local try
	for try in $(seq 6); do
		pair "$@" && return
		[ "$try" -lt 6 ] && grep -q "Can't produce a report" "$scratch/client" "$scratch/server" || return
	done
}

# perftest DEVICE TOOL OPTION...: a perftest tool over a device, both ends with the same options.
perftest() {
	local device=$1 tool=$2
	shift 2
	reported 18515 "$tool" -d "$device" "$@" -- "$tool" -d "$device" "$@" localhost
}
