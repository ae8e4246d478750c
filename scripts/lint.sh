#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# lint.sh [NAME...]: runs the programs that look for mistakes by reading the sources; all, or those named. Each
# has a script in scripts/lint, with the complaints that are not followed and why; it fails if others are left,
# and exits with 4 where its program cannot be had. The last line counts. Logs: build/lint.
set -uo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")" || exit 1
logs=build/lint
mkdir -p $logs
passed=0
failed=0
skipped=0

lint() {
	local name=$1 log=$logs/$1.log status=0 start=$SECONDS
	LC_ALL=C "scripts/lint/$name.sh" >"$log" 2>&1 </dev/null || status=$?
	case $status in
	0)
		passed=$((passed + 1))
		echo "ok $name, $((SECONDS - start)) s"
		;;
	4)
		skipped=$((skipped + 1))
		echo "skipped $name: $(tail -n 1 "$log")"
		;;
	*)
		failed=$((failed + 1))
		tail -n 100 "$log" | sed 's/^/    /'
		echo "not ok $name, $((SECONDS - start)) s"
		;;
	esac
}

[ $# -gt 0 ] || set -- shell gcc sparse smatch kernel-doc checkpatch clang-tidy
for name; do
	lint "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
