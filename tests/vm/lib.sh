# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# shellcheck shell=bash
# lib.sh: what the shell tests share: KTAP, commands that show themselves, claims about what they say.
#
# A test sources this file, calls ok once per claim, and ends with finish. Whatever a claim's command
# prints becomes diagnostics. Nothing waits without a limit.
set -uo pipefail

tree=$(dirname "$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")")
# shellcheck disable=SC2034 # for the tests
device=${BELLHOP_TEST_DEVICE:-bell0}
# What nobody's device has: the core's general services QP is always there.
# shellcheck disable=SC2034 # for the tests
idle='pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=../../scripts/pair.sh
. "$tree/scripts/pair.sh"

points=0
failures=0
echo 'KTAP version 1'

# skip REASON: ends the whole test as skipped.
skip() {
	echo "1..0 # SKIP $*"
	exit 4
}

# ok NAME COMMAND...: one claim, true if the command (or function, in a subshell) returns 0.
ok() {
	local name=$1
	shift
	points=$((points + 1))
	("$@") 2>&1 | sed -u 's/^/# /'
	if [ "${PIPESTATUS[0]}" = 0 ]; then
		echo "ok $points $name"
	else
		echo "not ok $points $name"
		failures=$((failures + 1))
	fi
}

# passed_over NAME REASON: a claim that cannot be made here.
passed_over() {
	points=$((points + 1))
	echo "ok $points $1 # SKIP $2"
}

# finish: the plan and the end of a test.
finish() {
	echo "1..$points"
	[ $points -gt 0 ] && [ $failures -eq 0 ]
	exit
}

# run COMMAND...: shows a command and runs it, for 60 seconds at most ($limit). Returns its status.
run() {
	echo "\$ $*"
	bounded "$@"
}

# fails COMMAND...: the command must return an error, and not by a signal.
fails() {
	local status=0
	run "$@" || status=$?
	echo "status $status, expected an error"
	[ $status -gt 0 ] && [ $status -lt 124 ]
}

# says TEXT COMMAND...: the command must succeed and its output contain the text.
says() {
	local text=$1
	shift
	echo "\$ $*"
	bounded "$@" >"$scratch/says" 2>&1 || { cat "$scratch/says"; return 1; }
	cat "$scratch/says"
	grep -qF -- "$text" "$scratch/says" || { echo "does not say: $text"; return 1; }
}

# lacks TEXT COMMAND...: the command must succeed and its output not contain the text.
lacks() {
	local text=$1
	shift
	echo "\$ $*"
	bounded "$@" >"$scratch/says" 2>&1 || { cat "$scratch/says"; return 1; }
	cat "$scratch/says"
	! grep -F -- "$text" "$scratch/says" >/dev/null || { echo "says: $text"; return 1; }
}

# reads FILE VALUE: the file's first line must be the value.
reads() {
	local value
	value=$(head -n 1 "$1") || return
	echo "$1: $value"
	[ "$value" = "$2" ]
}

# load [PARAMETER=VALUE...], unload: the module; both are bounded.
load() {
	run "$tree/scripts/load.sh" "$@"
}

unload() {
	limit=20 run rmmod bellhop
}

# measures TOOL OPTION...: a perftest tool over the device. Succeeds if both ends do and the client's table has
# rows, in which peak and average bandwidth (or least and greatest latency) are above 0; some options have no peak.
measures() {
	local peak=yes
	[[ " $* " =~ ' '(-D|-N|--reversed)' ' ]] && peak=
	perftest "$device" "$@" || return
	awk -v peak="$peak" '
		/^ *#bytes/ { print }
		/^ *[0-9]+ +[0-9]+ +[-0-9]/ {
			rows++
			print
			if (!($4 > 0) || (peak && !($3 > 0))) bad = 1
		}
		END { exit !rows || bad }' "$scratch/client"
}
