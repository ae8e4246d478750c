#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# verify.sh: one search of one model, in the current folder: verify.sh MODEL safety|liveness|WITHOUT_<what>
#
# safety finds assertions that fail and threads that are stuck, liveness finds cycles: no model has an endless run.
# A mutation has to be found by either; most are found soon where loads are in order. Prints one line, ok
# or not ok, without a number.
set -uo pipefail
model=$1
what=$2
base=${model##*/}
name=${model##*kernel/}
name="${name%.pml} $what"

# The stack is as deep as the longest run, which takes some hundred steps; a full one is reported as an error.
limits=(-m10000 -w22)

result() {
	printf '%s %s\n' "$1" "$name: $2"
	exit 0
}

# search LEVEL KIND FLAG...: leaves what was found in $errors, $states and $how. KIND is safety, quick (the
# same where loads are in order) or liveness (there, too).
search() {
	local level=$1 kind=$2 log=$2.log flags=(-DCOLLAPSE -DMEMLIM=900) cycles=()
	shift 2
	case $kind in
	safety) flags+=(-DSAFETY) ;;
	quick)
		set -- "$@" -DIN_ORDER
		flags+=(-DSAFETY)
		;;
	liveness)
		set -- "$@" -DIN_ORDER
		flags+=(-DNP -DNOFAIR)
		cycles=(-l)
		;;
	esac
	rm -f pan ./*.trail
	if ! spin -a "$@" "$model" >"$log" 2>&1 || ! gcc -w "-O$level" "${flags[@]}" -o pan pan.c >>"$log" 2>&1; then
		sed 's/^/# /' "$log"
		result 'not ok' 'does not build'
	fi
	timeout 900 ./pan "${cycles[@]}" "${limits[@]}" >>"$log" 2>&1 || true
	errors=$(sed -n 's/.*, errors: \([0-9]*\)$/\1/p' "$log")
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$log")
	how=$(grep -oE 'assertion violated|invalid end state|non-progress cycle' "$log" | head -n 1)
	if grep -qE 'max search depth too small|out of memory|reached -DMEMLIM|hash conflicts.*lost' "$log"; then
		errors=
	fi
	# A search that stops before it is complete has either found something or shown nothing.
	if [ "$errors" = 0 ] && grep -q 'Search not completed' "$log"; then
		errors=
	fi
	if [ -z "$errors" ]; then
		sed 's/^/# /' "$log"
		result 'not ok' "the search for $kind is not complete"
	fi
}

case $what in
safety | liveness)
	search 1 "$what"
	[ "$errors" = 0 ] && result ok "$states states"
	sed 's/^/# /' "$what.log"
	flag=
	[ "$what" = safety ] || flag=-DIN_ORDER
	echo "# the run that leads there: spin -k $PWD/$base.trail -p -g $flag $model"
	result 'not ok' "${how:-an error}"
	;;
WITHOUT_*)
	for kind in quick safety liveness; do
		search 0 $kind "-D$what"
		[ "$errors" = 0 ] || [ -z "$how" ] || result ok "$how"
		[ "$errors" = 0 ] || result 'not ok' 'an error of another kind'
	done
	result 'not ok' 'not found'
	;;
*)
	result 'not ok' 'no such search'
	;;
esac
