#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# check.sh: every tier of tests that runs on one machine, the quick ones first; the last line counts. A step
# that fails does not keep the others from running. Logs: build/check.
set -uo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")" || exit 1
logs=build/check
mkdir -p $logs
passed=0
failed=0

# tally LOG STATUS: how many tests a step passed and failed: by gtest's or a test runner's own count, else
# the step is one test. A failed step counts at least one failure.
tally() {
	awk -v status="$2" '
		/^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
		/^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
		/^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3 }
		END {
			if (!passed && !failed && status == 0) passed = 1
			if (!failed && status != 0) failed = 1
			print passed + 0, failed + 0
		}' "$1"
}

# step NAME COMMAND...: runs one; its output is shown if it fails.
step() {
	local name=$1 log=$logs/$1.log status=0 start=$SECONDS ok bad
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	read -r ok bad < <(tally "$log" $status)
	passed=$((passed + ok))
	failed=$((failed + bad))
	if [ "$bad" -gt 0 ]; then
		tail -n 80 "$log" | sed 's/^/    /'
	fi
	echo "$name: $ok passed, $bad failed, $((SECONDS - start)) s"
}

step layers scripts/check-layers.sh
step style scripts/check-style.sh
step build make all
step unit make -C tests/unit check
step fuzz make -C tests/fuzz check
step vm scripts/vm-run.sh bookworm
echo "$passed passed, $failed failed" | tee $logs/summary
[ $failed = 0 ]
