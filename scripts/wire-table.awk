# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# wire-table.awk: with table.awk before it, reads the lines of wire-guest.sh and prints medians of bellhop and rdma_rxe
# beside the targets.

# What may be so many times less, or more.
function row(measure, name, format, target, less,    bell, rxe, ratio) {
	bell = median(measure, "bell")
	rxe = median(measure, "rxe")
	ratio = less ? ratio_of(rxe, bell) : ratio_of(bell, rxe)
	printf "%-28s " format " " format, name, bell, rxe
	if (bell && !rxe)
		printf " %10s", "(failed)"
	else
		printf " %8.1f x", ratio
	judge(target " x", ratio >= target || (bell && !rxe))
}

END {
	begin_table()
	row("write_lat", "ib_write_lat 8 B, us", "%10.2f", 2, 1)
	row("send_lat", "ib_send_lat 8 B, us", "%10.2f", 2, 1)
	row("read_lat", "ib_read_lat 8 B, us", "%10.2f", 2, 1)
	row("write_rate", "ib_write_bw 8 B, M/s", "%10.4f", 5)
	row("write_bw", "ib_write_bw 64 KiB, MiB/s", "%10.1f", 3)
	row("send_bw", "ib_send_bw 64 KiB, MiB/s", "%10.1f", 3)
	row("read_bw", "ib_read_bw 64 KiB, MiB/s", "%10.1f", 3)
	row("lossy_write_bw", "  1 % lost: ib_write_bw", "%10.1f", 5)
	row("lossy_send_bw", "            ib_send_bw", "%10.1f", 5)
	row("lossy_read_bw", "            ib_read_bw", "%10.1f", 5)
	end_table()
}
