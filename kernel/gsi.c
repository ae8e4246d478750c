// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* gsi.c: the list of general services QPs. */
#include <linux/spinlock.h>
#include "device.h"
#include "gsi.h"
#include "port.h"

static LIST_HEAD(all);
static DEFINE_SPINLOCK(lock); /* @all */

void bellhop_gsi_add(struct bellhop_gsi *gsi, struct bellhop_device *device, u32 qpn)
{
	gsi->device = device;
	gsi->qpn = qpn;
	spin_lock_bh(&lock);
	list_add_tail(&gsi->link, &all);
	spin_unlock_bh(&lock);
}

void bellhop_gsi_remove(struct bellhop_gsi *gsi)
{
	spin_lock_bh(&lock);
	list_del(&gsi->link);
	spin_unlock_bh(&lock);
}

u32 bellhop_gsi_find(const struct bellhop_device *from, const union ib_gid *dgid)
{
	const struct bellhop_gsi *gsi;
	u32 qpn = 0;

	spin_lock(&lock);
	list_for_each_entry(gsi, &all, link)
	{
		if (bellhop_port_joins(from, gsi->device) &&
		    bellhop_port_has_gid(gsi->device, dgid, NULL)) {
			qpn = gsi->qpn;
			break;
		}
	}
	spin_unlock(&lock);
	return qpn;
}

u32 bellhop_gsi_number(const struct bellhop_device *device)
{
	const struct bellhop_gsi *gsi;
	u32 qpn = 0;

	spin_lock(&lock);
	list_for_each_entry(gsi, &all, link)
	{
		if (gsi->device == device) {
			qpn = gsi->qpn;
			break;
		}
	}
	spin_unlock(&lock);
	return qpn;
}
