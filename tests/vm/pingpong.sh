#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# pingpong.sh: ibv_rc_pingpong, ibv_uc_pingpong, ibv_srq_pingpong and ibv_xsrq_pingpong between two processes: polling, payload checked, events, the ibv_wr_* interface.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

pingpong() {
	local tool=ibv_${service:-rc}_pingpong
	pair 18515 $tool -d "$device" -g 0 "$@" -- $tool -d "$device" -g 0 "$@" localhost || return
	cat "$scratch/client"
	grep -q 'iters in .* usec/iter' "$scratch/client"
}

# It says nothing of its messages, but fails when they do.
xsrq_pingpong() {
	pair 18515 ibv_xsrq_pingpong -d "$device" -g 0 "$@" -- ibv_xsrq_pingpong -d "$device" -g 0 "$@" localhost
}

ok default pingpong
ok 'payload checked' pingpong -c
ok 'events' pingpong -e
ok 'ibv_wr_*' pingpong -N
ok 'events, payload checked, ibv_wr_*' pingpong -e -c -N
ok 'small messages' pingpong -s 1
ok 'messages of 1 MiB' pingpong -s 1048576 -n 50
ok 'stamped completions' pingpong -t
ok 'one receive at a time' pingpong -r 1 -n 200
service=uc
ok 'unreliable: default' pingpong
ok 'unreliable: events' pingpong -e
ok 'unreliable: messages of 1 MiB' pingpong -s 1048576 -n 50
service=srq
ok 'shared: default' pingpong
ok 'shared: events' pingpong -e
ok 'shared: 1 QP' pingpong -q 1
ok 'shared: 64 QPs' pingpong -q 64 -r 500
ok 'XRC: default' xsrq_pingpong
ok 'XRC: events' xsrq_pingpong -e -n 200
ok 'XRC: messages of 1 MiB' xsrq_pingpong -s 1048576 -n 50
finish
