#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# check.sh: every tier of tests that runs on one machine, the quick ones first; the last line counts. A step
# that fails does not keep the others from running. Logs: build/check. Environment: CHECK_DEBUG, the VM tests that
# are run on the debug kernel, too.
set -uo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")" || exit 1
logs=build/check
mkdir -p $logs
passed=0
failed=0
bad_steps=()

# tally LOG STATUS: how many tests a step passed and failed: by the last line of a test runner, by gtest's
# summaries, or by TAP points; a step without any is one test. A failed step counts at least one failure.
tally() {
	awk -v status="$2" '
		/^\[  PASSED  \] [0-9]+ test/ { ok += $4 }
		/^\[  FAILED  \] [0-9]+ test/ { bad += $4 }
		/^ok / { ok_points++ }
		/^not ok / { bad_points++ }
		/^[0-9]+ passed, [0-9]+ failed/ { counted = 1; ok = $1; bad = $3 }
		END {
			if (!counted) {
				ok += ok_points
				bad += bad_points
			}
			if (!ok && !bad && status == 0) ok = 1
			if (!bad && status != 0) bad = 1
			print ok + 0, bad + 0
		}' "$1"
}

# step NAME COMMAND...: runs one; its output is shown in the end if it fails.
step() {
	local name=$1 log=$logs/$1.log status=0 start=$SECONDS ok bad
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	read -r ok bad < <(tally "$log" $status)
	passed=$((passed + ok))
	failed=$((failed + bad))
	[ "$bad" = 0 ] || bad_steps+=("$name")
	echo "$name: $ok passed, $bad failed, $((SECONDS - start)) s"
}

# beside NAME PID COMMAND...: runs it in the background once PID, if there is one, has ended. Guests leave a third
# of two processors idle: what can wait runs beside them, and they come first. Sets the variable NAME to its pid.
beside() {
	local name=$1 log=$logs/$1.beside previous=$2
	shift 2
	{
		[ -z "$previous" ] || tail --pid="$previous" -f /dev/null
		exec nice -n 15 "$@"
	} >"$log" 2>&1 </dev/null &
	printf -v "$name" %s $!
}

# ended NAME PID: what ran beside the others.
ended() {
	local status=0
	wait "$2" || status=$?
	cat "$logs/$1.beside"
	return $status
}

step layers scripts/check-layers.sh
step style scripts/check-style.sh
step build make -j2 all
lint='' fuzz=''
beside lint '' scripts/lint.sh
beside fuzz "$lint" make -j2 -C tests/fuzz check
step unit make -j2 -C tests/unit check
step coverage make -j2 -C tests/unit coverage
sed -n '/^Filename/,$s/^/    /p' $logs/coverage.log
step models make -j2 -C tests/models check
step vm scripts/vm-run.sh bookworm
if [ -n "${CHECK_DEBUG:-}" ]; then
	read -ra debug_tests <<<"$CHECK_DEBUG"
	step debug scripts/vm-run.sh bookworm-debug "${debug_tests[@]}"
fi
step lint ended lint "$lint"
step fuzz ended fuzz "$fuzz"
for name in "${bad_steps[@]}"; do
	echo "$name:"
	tail -n 80 "$logs/$name.log" | sed 's/^/    /'
done
echo "$passed passed, $failed failed" | tee $logs/summary
[ $failed = 0 ]
