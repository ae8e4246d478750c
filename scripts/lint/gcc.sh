#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# gcc.sh: the compiler's further warnings about the module.
exec "$(dirname "$(realpath "$0")")/module.sh"
