#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# perftest_xrc.sh: perftest's tools over XRC.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

for tool in ib_write_bw ib_read_bw ib_send_bw; do
	ok "$tool -c XRC" measures $tool -c XRC -n 1000
	ok "$tool -c XRC -b" measures $tool -c XRC -b -n 500
	ok "$tool -c XRC -q 4" measures $tool -c XRC -q 4 -n 200
done
for tool in ib_write_lat ib_read_lat ib_send_lat; do
	ok "$tool -c XRC" measures $tool -c XRC
	ok "$tool -c XRC -a" measures $tool -c XRC -a -n 20
done
ok 'ib_atomic_bw -c XRC' measures ib_atomic_bw -c XRC -n 1000
ok 'ib_atomic_lat -c XRC' measures ib_atomic_lat -c XRC
ok 'ib_send_bw -c XRC -e' measures ib_send_bw -c XRC -e -n 500
ok 'ib_send_lat -c XRC -e' measures ib_send_lat -c XRC -e -n 200
finish
