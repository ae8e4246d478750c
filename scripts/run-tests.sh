#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# run-tests.sh [NAME...]: runs tests/vm/*.sh and the programs of build/vm on the running kernel, as root,
# and prints KTAP; the last line counts. Meant for a guest (vm-run.sh), and works on any test host.
#
# Each test finds a freshly loaded bellhop. It fails if it says so, breaks KTAP, takes longer than
# tests/vm/timeouts allows, makes the kernel complain, or leaves the module impossible to remove.
# BELLHOP_LOGS: a folder for one log per test. BELLHOP_PATIENCE: how many times as long as usual the tests may
# take, on a kernel that is slow. BELLHOP_HOSTILE_SECONDS and BELLHOP_STORM_ROUNDS make those tests longer.
# With --limit first: only prints how many seconds the tests may take altogether.
set -uo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")" || exit 1
logs=${BELLHOP_LOGS:-build/test-logs}

# all_tests: their names; a program counts only while its source is there.
all_tests() {
	local path
	for path in tests/vm/*.sh tests/vm/*.cpp; do
		path=${path##*/}
		[ "$path" = lib.sh ] || [ "$path" = '*.cpp' ] || echo "${path%.*}"
	done
}

# limit NAME: seconds that a test may take.
limit() {
	awk -v name="$1" -v patience="${BELLHOP_PATIENCE:-1}" \
		-v attack="${BELLHOP_HOSTILE_SECONDS:-0}" -v rounds="${BELLHOP_STORM_ROUNDS:-0}" '
		$1 == name || $1 == "default" { limit = $2 }
		END {
			if (name ~ /^hostile_|^setup_kill$/) more = attack
			if (name == "storm") more = rounds * 15 * patience
			print limit * patience + more
		}' tests/vm/timeouts
}

# program NAME: its file.
program() {
	if [ -f "tests/vm/$1.sh" ]; then
		echo "tests/vm/$1.sh"
	else
		echo "build/vm/$1"
	fi
}

# broken_ktap LOG: prints why a log is no successful KTAP; nothing if it is.
broken_ktap() {
	awk '
		/^ok / { ok++ }
		/^not ok / { bad++ }
		/^1\.\.[0-9]/ { split($1, plan, /\.\./); planned = plan[2]; has_plan = 1 }
		END {
			if (bad) print bad " of " ok + bad " points failed"
			else if (!has_plan) print "no plan"
			else if (!ok) print "nothing was tested"
			else if (planned != ok) print planned " points planned, " ok " reported"
		}' "$1"
}

loaded() {
	grep -q '^bellhop ' /proc/modules
}

unload() {
	if loaded; then
		timeout -s KILL 20 rmmod bellhop 2>&1
	fi
}

# in_session COMMAND...: runs it in a session of its own, so that what it leaves running can be found.
in_session() {
	# shellcheck disable=SC2016 # for the inner shell
	setsid --wait bash -c 'echo $$ >"$0"; exec "$@"' "$logs/.session" "$@"
}

# clear_session: kills what the last one left running; 0 if there was anything.
clear_session() {
	pkill -KILL --session "$(cat "$logs/.session")" && sleep 1
}

# one NAME: runs a test, its points indented; sets result (ok, not ok, or skip) and reason.
one() {
	local name=$1 log=$logs/$1.log status complaints
	result='not ok' reason=
	: >"$log"
	dmesg -C
	if ! loaded && ! scripts/load.sh >>"$log" 2>&1; then
		reason='the module does not load'
		dmesg >>"$log"
		return
	fi
	in_session timeout --foreground -s KILL "$(limit "$name")" "$(program "$name")" 2>&1 </dev/null | tee -a "$log" |
		sed -u -n '/^#/!s/^/    /p'
	status=${PIPESTATUS[0]}
	case $status in
	0) reason=$(broken_ktap "$log") ;;
	4) reason=$(sed -n 's/^.*# SKIP */SKIP /p' "$log" | tail -n 1) ;;
	137) reason="killed after $(limit "$name") s" ;;
	*) reason=$(broken_ktap "$log"); reason=${reason:-exit status $status} ;;
	esac
	case $status-$reason in
	0-) result=ok ;;
	4-SKIP\ *) result=skip ;;
	4-*) reason='skipped without a reason' ;;
	esac
	# A killed test's own programs are no surprise.
	if clear_session && [ "$result" = ok ]; then
		result='not ok' reason='left programs running'
	fi
	unload >>"$log" || { result='not ok' reason='the module cannot be removed'; }
	{ echo '--- kernel log'; dmesg; } >>"$log"
	if ! complaints=$(dmesg | scripts/kernel-log.sh); then
		result='not ok' reason="kernel: $(head -n 1 <<<"$complaints")"
	fi
}

only_limit=
if [ "${1:-}" = --limit ]; then
	only_limit=yes
	shift
fi
names=("$@")
mapfile -t known < <(all_tests)
[ $# -gt 0 ] || names=("${known[@]}")
for name in "${names[@]}"; do
	[[ " ${known[*]} " = *" $name "* ]] || { echo "run-tests.sh: no test is called $name" >&2; exit 1; }
done
if [ -n "$only_limit" ]; then
	for name in "${names[@]}"; do
		limit "$name"
	done | awk '{ sum += $1 } END { print sum }'
	exit
fi

mkdir -p "$logs"
declare -A count=([ok]=0 ['not ok']=0 [skip]=0)
number=0
failed=()

# Tests look at how much memory is free. Each processor keeps free pages at hand that count as used: 20 MiB, or none.
sysctl -q vm.percpu_pagelist_high_fraction=1000000 || true

# explanation NAME: the end of what a test that failed said of it.
explanation() {
	sed '/^--- kernel log/,$d' "$logs/$1.log" | grep -v '^ok ' | tail -n 40 | sed 's/^/#    /'
}

unload || exit 1
echo 'KTAP version 1'
echo "1..${#names[@]}"
for name in "${names[@]}"; do
	number=$((number + 1))
	start=$SECONDS
	echo "# Subtest: $name"
	one "$name"
	count[$result]=$((count[$result] + 1))
	if [ "$result" = 'not ok' ]; then
		failed+=("$name: ${reason:-it says so}")
		explanation "$name"
		sed -n '/^--- kernel log/,$p' "$logs/$name.log" | tail -n 20 | sed 's/^/#    /'
	fi
	echo "${result/skip/ok} $number $name #${reason:+ $reason,} $((SECONDS - start)) s"
done
# Again, where it is not lost in the rest.
for name in "${failed[@]}"; do
	echo "# failed: $name"
	explanation "${name%%:*}"
done
echo "${count[ok]} passed, ${count[not ok]} failed, ${count[skip]} skipped"
[ "${count[ok]}" -gt 0 ] && [ "${count[not ok]}" = 0 ]
