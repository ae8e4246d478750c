#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# checkpatch.sh: the kernel's checkpatch over the module and the header that it shares with user space.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
tree=$PWD
tools=build/lint/checkpatch

not_followed=(
	# clang-format decides where braces are, those of nested initialisers too.
	OPEN_BRACE
	# The numbers that are written as 1 << n are limits, and uapi/ has no BIT().
	BIT_MACRO
	# kernel/proto/ is built for this machine too, where there is no ARRAY_SIZE().
	ARRAY_SIZE
	# Locks are described in the kernel-doc of their struct.
	UNCOMMENTED_DEFINITION
	# Some macros take the name of a field, which has no side effects and cannot be in brackets.
	MACRO_ARG_REUSE MACRO_ARG_PRECEDENCE
)
not_followed_in_base=(
	# These are the barriers themselves; what each is for is said where it is used.
	MEMORY_BARRIER
	# A statement in assembly cannot be in brackets.
	COMPLEX_MACRO
)
not_followed_in_uapi=(
	# The language spells _Static_assert so.
	CAMELCASE
)

# Packages of headers do not have it, those of sources do.
source=$(find /usr/src -maxdepth 1 -name 'linux-source-*.tar.xz' | sort -V | tail -n 1)
base=$(basename "$source" .tar.xz)/scripts
if [ ! "$tools/unpacked" -nt "$source" ]; then
	mkdir -p $tools
	# With each file found once, tar does not read on to the archive's end.
	tar -xJf "$source" -C $tools --strip-components=2 --occurrence=1 \
		"$base"/{checkpatch.pl,spelling.txt,const_structs.checkpatch}
	touch $tools/unpacked
fi
# It leaves a file in the folder where it runs.
cd $tools

# check TYPES FILE...: TYPES are not complained about.
check() {
	local types=$1
	shift
	perl checkpatch.pl --strict --no-tree --no-summary --terse --show-types --max-line-length=100 \
		--ignore "${types// /,}" -f "$@"
}

mapfile -t module < <(find "$tree/kernel" -name '*.[ch]' ! -path '*/proto/base.h' | sort)
status=0
check "${not_followed[*]}" "${module[@]}" || status=1
check "${not_followed[*]} ${not_followed_in_base[*]}" "$tree/kernel/proto/base.h" || status=1
check "${not_followed[*]} ${not_followed_in_uapi[*]}" "$tree"/uapi/rdma/*.h || status=1
exit $status
