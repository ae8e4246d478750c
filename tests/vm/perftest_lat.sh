#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# perftest_lat.sh: ib_write_lat, ib_read_lat, ib_send_lat and ib_atomic_lat with the options that people use. The tools
# choose the GID themselves.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

for tool in ib_write_lat ib_read_lat ib_send_lat; do
	ok "$tool" measures $tool
	ok "$tool -a" measures $tool -a -n 20
	ok "$tool -s 1" measures $tool -s 1
	ok "$tool -s 8388608" measures $tool -s 8388608 -n 20
	ok "$tool --use_old_post_send" measures $tool --use_old_post_send
done
for type in CMP_AND_SWAP FETCH_AND_ADD; do
	ok "ib_atomic_lat -A $type" measures ib_atomic_lat -A $type
done
for tool in ib_write_lat ib_send_lat; do
	ok "$tool -c UC" measures $tool -c UC
done
ok 'ib_send_lat -c UD' measures ib_send_lat -c UD -n 500
ok 'ib_send_lat -c UD -g' measures ib_send_lat -c UD -g -n 500
ok 'ib_send_lat --use-srq' measures ib_send_lat --use-srq
ok 'ib_send_lat -e' measures ib_send_lat -e -n 200
finish
