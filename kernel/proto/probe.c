// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* probe.c: the way back of a requester that was not patient enough. */
#include "probe.h"

void bellhop_probe_go_back(struct bellhop_probe *probe, u64 sent, bool has_answers)
{
	probe->count++;
	if (!probe->before)
		probe->rtt_before = probe->rtt;
	if (probe->before < sent)
		probe->before = sent;
	if (has_answers)
		probe->before = 0;
	bellhop_rtt_forget(&probe->rtt);
}

u64 bellhop_probe_return(struct bellhop_probe *probe, u64 una)
{
	u64 before = probe->before;

	probe->before = 0;
	if (before <= una)
		return una;
	probe->rtt = probe->rtt_before;
	return before;
}
