#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# check-style.sh: what a machine can see of the house style: clang-format, the licence and the name in each
# file's head, and the length of files.
set -uo pipefail
cd "$(dirname "$(dirname "$(realpath "$0")")")" || exit 1
status=0

complain() {
	printf '%s\n' "$@"
	status=1
}

# The tree's own files, known to git or new; what git ignores does not count. Corpora are data.
mapfile -t files < <(git ls-files --cached --others --exclude-standard | grep -v '^tests/fuzz/corpus/' | sort)
sources=() scripts=() models=()
for file in "${files[@]}"; do
	[ -f "$file" ] || continue
	case $file in
	*.c | *.h | *.cpp | *.hpp) sources+=("$file") ;;
	*.pml) models+=("$file") ;;
	*.sh | .ci/run | qemu-images/init) scripts+=("$file") ;;
	esac
done
[ ${#sources[@]} -gt 0 ] && [ ${#scripts[@]} -gt 0 ] || complain 'no files found: is this a git checkout?'

clang-format --dry-run -Werror "${sources[@]}" || status=1

short=0
for file in "${sources[@]}" "${scripts[@]}" "${models[@]}" Kbuild Makefile; do
	head=$(head -n 5 "$file")
	grep -q 'SPDX-License-Identifier: ' <<<"$head" || complain "$file: no SPDX line in its head"
	# A program that runs once, at the guest's or the shell's call, is named without a suffix.
	name=$(basename "$file")
	grep -qE "$name( [^:]*)?: " <<<"$head" || complain "$file: its head does not say what $name owns"
	lines=$(wc -l <"$file")
	[ "$lines" -lt 150 ] && short=$((short + 1))
	[ "$lines" -le 500 ] || complain "$file: $lines lines, and 500 is the limit"
done
total=$((${#sources[@]} + ${#scripts[@]} + ${#models[@]} + 2))
[ $((short * 2)) -ge $total ] || complain "only $short of $total files are shorter than 150 lines"

if grep -nE '\bbh_' "${sources[@]}"; then
	complain 'the prefix is bellhop_: bh_ means bottom halves and buffer heads'
fi
if grep -nE '[[:space:]]+$' "${sources[@]}" "${scripts[@]}" "${models[@]}"; then
	complain 'white space at the end of these lines'
fi
exit $status
