# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# table.awk: what tables have in common that compare bellhop with rdma_rxe: lines of a measure, a device and a value.

{ values[$1, $2] = values[$1, $2] " " $3 }

function median(measure, device,    list, n, i, j, swap) {
	n = split(values[measure, device], list, " ")
	for (i = 1; i <= n; i++)
		for (j = i + 1; j <= n; j++)
			if (list[j] + 0 < list[i] + 0) {
				swap = list[i]
				list[i] = list[j]
				list[j] = swap
			}
	return n ? list[int((n + 1) / 2)] + 0 : 0
}

function ratio_of(a, b) {
	return b > 0 ? a / b : 0
}

# Closes a line: what was wanted, and whether it came true.
function judge(wanted, reached) {
	printf "%9s  %s\n", wanted, reached ? "reached" : "MISSED"
	targets++
	if (!reached)
		missed++
}

# What has no target.
function compare(measure, name, format,    bell, rxe) {
	bell = median(measure, "bell")
	rxe = median(measure, "rxe")
	printf "%-28s " format " " format " %8.1f x\n", name, bell, rxe, ratio_of(bell, rxe)
}

function begin_table() {
	printf "%-28s %10s %10s %10s%9s\n", "", "bellhop", "rdma_rxe", "ratio", "target"
}

function end_table() {
	printf "\n%d of %d targets reached", targets - missed, targets
	print missed ? "; " missed " MISSED" : ""
}
