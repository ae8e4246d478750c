// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inbox.c: adds, polls and arms. */
#include <linux/mm.h>
#include "cq.h"
#include "inbox.h"

struct bellhop_inbox *bellhop_inbox_create(u32 slots)
{
	struct bellhop_inbox *inbox = kvzalloc(struct_size(inbox, wcs, slots), GFP_KERNEL);

	if (!inbox)
		return NULL;
	spin_lock_init(&inbox->lock);
	inbox->mask = slots - 1;
	return inbox;
}

int bellhop_inbox_add(struct bellhop_inbox *inbox, const struct ib_wc *wc, bool solicited,
		      bool *fire)
{
	u32 ends = solicited ? IB_CQ_SOLICITED | IB_CQ_NEXT_COMP : IB_CQ_NEXT_COMP;
	unsigned long flags;
	int err = -EOVERFLOW;

	spin_lock_irqsave(&inbox->lock, flags);
	if (inbox->tail - inbox->head <= inbox->mask) {
		inbox->wcs[inbox->tail++ & inbox->mask] = *wc;
		*fire = inbox->armed & ends;
		if (*fire)
			inbox->armed = 0;
		err = 0;
	}
	spin_unlock_irqrestore(&inbox->lock, flags);
	return err;
}

int bellhop_inbox_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct bellhop_inbox *inbox = bellhop_cq_of(ibcq)->inbox;
	unsigned long flags;
	int n = 0;

	/* A library polls in its own memory. */
	if (!inbox)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&inbox->lock, flags);
	while (n < num_entries && inbox->head != inbox->tail)
		wc[n++] = inbox->wcs[inbox->head++ & inbox->mask];
	spin_unlock_irqrestore(&inbox->lock, flags);
	return n;
}

int bellhop_inbox_arm(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct bellhop_inbox *inbox = bellhop_cq_of(ibcq)->inbox;
	unsigned long irq;
	bool missed;

	if (!inbox)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&inbox->lock, irq);
	inbox->armed |= flags & IB_CQ_SOLICITED_MASK;
	missed = inbox->head != inbox->tail;
	spin_unlock_irqrestore(&inbox->lock, irq);
	return (flags & IB_CQ_REPORT_MISSED_EVENTS) && missed;
}
