// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* ledger.c: makes and frees ledgers. */
#include <linux/errno.h>
#include <linux/mm.h>
#include "ledger.h"

int bellhop_ledger_create(struct bellhop_ledger *ledger, u32 slots)
{
	spin_lock_init(&ledger->lock);
	if (!slots)
		return 0;
	ledger->ids = kvcalloc(slots, sizeof(*ledger->ids), GFP_KERNEL);
	ledger->mask = slots - 1;
	return ledger->ids ? 0 : -ENOMEM;
}

void bellhop_ledger_destroy(struct bellhop_ledger *ledger)
{
	kvfree(ledger->ids);
}
