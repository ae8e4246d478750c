#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# kernel-log.sh: reads a kernel's log and prints the lines that no healthy kernel writes.
# Returns 0 if there is none, 1 if there are some.
! grep -aE \
	-e 'BUG:' \
	-e 'WARNING: ' \
	-e '\bOops\b' \
	-e 'Kernel panic' \
	-e 'general protection fault' \
	-e 'Unable to handle kernel' \
	-e '\b(KASAN|KCSAN|KFENCE|UBSAN):' \
	-e 'refcount_t: ' \
	-e 'possible (circular|recursive) locking|inconsistent lock state|suspicious RCU usage' \
	-e 'INFO: task .* blocked for more than' \
	-e 'self-detected stall|detected stalls' \
	-e 'unregister_netdevice: waiting' \
	-e 'scheduling while atomic|sleeping function called' \
	-e 'unreferenced object 0x' \
	-e 'Objects remaining in|still has .* objects' \
	-e 'bad page|Bad rss-counter|nonzero pgtables' \
	-e 'restrack: .*(not cleared|leak)|was not (freed|released)'
