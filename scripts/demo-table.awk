# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# demo-table.awk: with table.awk before it, reads the lines of demo-guest.sh and prints medians of bellhop and rdma_rxe beside the targets.

function latency(verb,    bell, rxe, tail) {
	bell = median(verb "_lat", "bell")
	rxe = median(verb "_lat", "rxe")
	tail = median(verb "_lat_999", "bell")
	printf "%-28s %10.2f %10.2f %8.1f x", "ib_" verb "_lat 8 B, us", bell, rxe, ratio_of(rxe, bell)
	judge("5 x", ratio_of(rxe, bell) >= 5)
	printf "%-28s %10.2f %10.2f %8.1f x", "    99.9 %, us", tail, median(verb "_lat_999", "rxe"), \
		ratio_of(median(verb "_lat_999", "rxe"), tail)
	printf "%11s\n", ""
	printf "%-28s %8.1f x %10s %10s", "    99.9 % to median", ratio_of(tail, bell), "", ""
	judge("up to 3 x", bell > 0 && tail <= 3 * bell)
}

function bandwidth(verb, size, name,    bell, rxe, memcpy) {
	bell = median(verb "_bw_" size, "bell")
	rxe = median(verb "_bw_" size, "rxe")
	memcpy = median("memcpy_" size, "-")
	printf "%-28s %10.1f %10.1f %8.1f x", "ib_" verb "_bw " name ", MiB/s", bell, rxe, ratio_of(bell, rxe)
	judge("20 x", ratio_of(bell, rxe) >= 20)
	printf "%-28s %8.0f %% %8.0f %% %10s", "    of memcpy", 100 * ratio_of(bell, memcpy), \
		100 * ratio_of(rxe, memcpy), ""
	judge("80 %", bell >= 0.8 * memcpy && memcpy > 0)
}

END {
	begin_table()
	latency("write")
	latency("send")
	latency("read")
	bell = median("write_rate", "bell")
	rxe = median("write_rate", "rxe")
	printf "%-28s %10.3f %10.3f %8.1f x", "ib_write_bw 8 B, M/s", bell, rxe, ratio_of(bell, rxe)
	judge("20 x", ratio_of(bell, rxe) >= 20)
	bandwidth("write", 65536, "64 KiB")
	bandwidth("send", 65536, "64 KiB")
	bandwidth("read", 65536, "64 KiB")
	bandwidth("write", 1048576, "1 MiB")
	compare("atomic_rate", "ib_atomic_bw 8 B, M/s", "%10.3f")
	compare("ud_rate", "ib_send_bw UD 1 KiB, M/s", "%10.3f")
	compare("srq_bw", "ib_send_bw SRQ 64 KiB, MiB/s", "%10.1f")
	printf "%-28s %10.1f\n", "memcpy 64 KiB, MiB/s", median("memcpy_65536", "-")
	printf "%-28s %10.1f\n", "memcpy 1 MiB, MiB/s", median("memcpy_1048576", "-")
	end_table()
}
