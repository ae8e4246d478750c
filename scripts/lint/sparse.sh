#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# sparse.sh: sparse over the module: address spaces, byte orders, the balance of locks.
not_followed=(
	# READ_ONCE() and WRITE_ONCE() take the size of a bool.
	-Wno-sizeof-bool
	# The kernel's macros declare variables, and are used inside each other.
	-Wno-shadow
	# struct_size() takes the size of a structure with an array at its end, and of void to find out whether it
	# is a constant.
	-Wno-flexible-array-sizeof -Wno-pointer-arith
)
exec "$(dirname "$(realpath "$0")")/module.sh" sparse -Wsparse-all "${not_followed[@]}"
