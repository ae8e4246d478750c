#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# perftest_bw.sh: ib_write_bw, ib_read_bw, ib_send_bw and ib_atomic_bw with the options that people use. The tools choose
# the GID themselves. Numbers of iterations are small where the default would take an emulated guest long.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

for tool in ib_write_bw ib_read_bw ib_send_bw; do
	ok "$tool" measures $tool
	ok "$tool -a" measures $tool -a -n 20
	ok "$tool -b" measures $tool -b -n 500
	ok "$tool -q 16" measures $tool -q 16 -n 200
	ok "$tool -l 16" measures $tool -l 16 -n 1600
	ok "$tool -s 1" measures $tool -s 1 -n 2000
	ok "$tool -s 8388608" measures $tool -s 8388608 -n 20
	ok "$tool --use_old_post_send" measures $tool --use_old_post_send -n 1000
done
for type in CMP_AND_SWAP FETCH_AND_ADD; do
	ok "ib_atomic_bw -A $type" measures ib_atomic_bw -A $type -n 1000
done
ok 'ib_atomic_bw -b -q 4' measures ib_atomic_bw -b -q 4 -n 500
ok 'ib_write_bw -c UC' measures ib_write_bw -c UC -n 1000
ok 'ib_write_bw -c UC -b' measures ib_write_bw -c UC -b -n 500
# The tool waits for all messages, and what finds no receive is lost: so there is one for each (-r).
ok 'ib_send_bw -c UC' measures ib_send_bw -c UC -n 1000 -r 1000
ok 'ib_send_bw -c UC -b' measures ib_send_bw -c UC -b -n 500 -r 500
ok 'ib_send_bw --use-srq' measures ib_send_bw --use-srq -n 500
ok 'ib_send_bw --use-srq -q 8' measures ib_send_bw --use-srq -q 8 -n 200
ok 'ib_send_bw -c UD' measures ib_send_bw -c UD -n 1000 -r 1000
ok 'ib_send_bw -c UD -g' measures ib_send_bw -c UD -g -n 1000 -r 1000
ok 'ib_send_bw -e' measures ib_send_bw -e -n 500
ok 'ib_send_bw -e -b' measures ib_send_bw -e -b -n 500
# The tool takes the address of IPv4 by itself once there is one, and refuses groups of the other family then.
ok 'an IPv4 address' run ip address add 10.8.0.1/24 dev "$device"
ok 'ib_send_bw -c UD -g with an IPv4 group' measures ib_send_bw -c UD -g -M 0:0:0:0:0:0:0:0:0:0:255:255:230:1:1:1 -n 1000 -r 1000
finish
