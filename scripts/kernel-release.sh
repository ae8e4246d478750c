#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# kernel-release.sh HEADERS: prints the release of the kernel that a folder of headers belongs to.
# Not "make kernelrelease": Debian's answers with the upstream version.
sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$1/include/generated/utsrelease.h"
