/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * probe.h: packets that are sent again before their time, to see whether anything was lost.
 *
 * A requester goes back when nobody has answered for longer than usual. When the answer that comes
 * then is for more than it has sent again, it was only late: what had been sent before was on its
 * way, and the requester returns to where it was (RFC 5682).
 */
#ifndef BELLHOP_PROTO_PROBE_H
#define BELLHOP_PROTO_PROBE_H

#include "base.h"
#include "rtt.h"

/* How often, each time after twice as long. */
#define BELLHOP_PROBES 6u

/**
 * struct bellhop_probe - all zero is nothing under way
 * @rtt: how long the responder takes
 * @count: how often packets were sent again, without an answer since
 * @due_ns: when they will be; 0 is never
 * @before: what had been sent at the first time; 0 where there is no way back
 * @rtt_before: and @rtt then
 */
struct bellhop_probe {
	struct bellhop_rtt rtt;
	u32 count;
	u64 due_ns;
	u64 before;
	struct bellhop_rtt rtt_before;
};

/**
 * bellhop_probe_arm() - an answer is waited for
 * @probe: the requester's
 * @now_ns: the time, not 0
 */
static inline void bellhop_probe_arm(struct bellhop_probe *probe, u64 now_ns)
{
	u64 timeout = bellhop_rtt_timeout_ns(&probe->rtt) << probe->count;

	probe->due_ns = probe->count < BELLHOP_PROBES ? now_ns + timeout : 0;
}

static inline bool bellhop_probe_is_due(const struct bellhop_probe *probe, u64 now_ns)
{
	return probe->due_ns && now_ns >= probe->due_ns;
}

/**
 * bellhop_probe_go_back() - the requester sends again what was not answered
 * @probe: of the requester; is due
 * @sent: where it was
 * @has_answers: something but an acknowledgment is waited for: to which of two requests that is an
 * answer, nobody can tell
 */
void bellhop_probe_go_back(struct bellhop_probe *probe, u64 sent, bool has_answers);

/**
 * bellhop_probe_return() - more was answered than was sent again
 * @probe: of the requester
 * @una: all before it
 *
 * Return: where the requester goes on: @una, if there is no way back, or more.
 */
u64 bellhop_probe_return(struct bellhop_probe *probe, u64 una);

/**
 * bellhop_probe_forget() - packets are sent again for another reason
 * @probe: of the requester
 */
static inline void bellhop_probe_forget(struct bellhop_probe *probe)
{
	probe->before = 0;
	bellhop_rtt_forget(&probe->rtt);
}

/**
 * bellhop_probe_hear() - packets were answered
 * @probe: of the requester; what was to be returned to is
 * @una: all before it
 * @now_ns: the time, not 0
 *
 * Nothing is waited for until it is armed again.
 */
static inline void bellhop_probe_hear(struct bellhop_probe *probe, u64 una, u64 now_ns)
{
	bellhop_rtt_hear(&probe->rtt, una, now_ns);
	probe->count = 0;
	probe->due_ns = 0;
}

#endif /* BELLHOP_PROTO_PROBE_H */
