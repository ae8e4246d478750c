// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* requester.c: the requester of RC, XRC and UC: what is sent, acknowledged, and sent again. */
#include "requester.h"
#include "psn.h"
#include "segment.h"
#include "syndrome.h"

static struct bellhop_request *at(const struct bellhop_requester *requester, u32 count)
{
	return &requester->requests[count & (requester->depth - 1)];
}

static bool is_reliable(const struct bellhop_requester *requester)
{
	return requester->service & BELLHOP_SERVICES_RELIABLE;
}

static struct bellhop_requester_plan just(enum bellhop_requester_verdict verdict)
{
	return (struct bellhop_requester_plan){ .verdict = verdict };
}

static struct bellhop_requester_plan fail(enum bellhop_reason reason)
{
	return (struct bellhop_requester_plan){ .verdict = BELLHOP_REQUESTER_FAIL,
						.reason = reason };
}

void bellhop_requester_begin(struct bellhop_requester *requester, u32 psn)
{
	*requester = (struct bellhop_requester){
		.requests = requester->requests,
		.depth = requester->depth,
		.service = requester->service,
		.mtu = requester->mtu,
		.window = requester->window,
		.allowed = requester->window,
		.max_rd_atomic = requester->max_rd_atomic,
		.retry = requester->retry,
		.una = psn,
		.sent = psn,
		.high = psn,
		.end = psn,
	};
}

u32 bellhop_requester_post(struct bellhop_requester *requester, u8 wr, u32 length, u8 flags)
{
	struct bellhop_request *request = at(requester, requester->newest);

	*request = (struct bellhop_request){
		.first = requester->end,
		.packets = bellhop_segment_count(length, requester->mtu),
		.length = length,
		.wr = wr,
		.flags = flags,
	};
	requester->end += request->packets;
	return requester->newest++ & (requester->depth - 1);
}

static void arm(struct bellhop_requester *requester, u64 now_ns)
{
	/* Each try waits once, so the first is one of them. */
	requester->deadline_ns = now_ns + bellhop_retry_silent(&requester->retry).wait_ns;
	bellhop_probe_arm(&requester->probe, now_ns);
}

static void disarm(struct bellhop_requester *requester)
{
	requester->deadline_ns = 0;
	requester->probe.due_ns = 0;
}

/* What comes before @una need not be sent any more, and perhaps not what comes behind either. */
static void skip(struct bellhop_requester *requester, u64 una)
{
	requester->sent = bellhop_probe_return(&requester->probe, una);
	if (requester->sent > una)
		requester->allowed = requester->window;
	requester->sending = requester->unacked;
	while (requester->sending != requester->newest &&
	       requester->sent >= bellhop_request_end(at(requester, requester->sending)))
		requester->sending++;
}

/* All before @una is acknowledged now. */
static void advance(struct bellhop_requester *requester, u64 una, u64 now_ns)
{
	u64 allowed = requester->allowed + una - requester->una;

	requester->allowed = allowed < requester->window ? (u32)allowed : requester->window;
	requester->una = una;
	while (requester->unacked != requester->newest &&
	       una >= bellhop_request_end(at(requester, requester->unacked)))
		requester->unacked++;
	if (requester->sent < una)
		skip(requester, una);
	if (requester->repair < una)
		requester->repair = una;
	requester->gone_back = false;
	bellhop_retry_progress(&requester->retry);
	bellhop_probe_hear(&requester->probe, una, now_ns);
	disarm(requester);
	if (requester->sent > una)
		arm(requester, now_ns);
}

static bool may_send(const struct bellhop_requester *requester,
		     const struct bellhop_request *request)
{
	bool begins = requester->sent == request->first;

	if (requester->sent - requester->una >= requester->allowed)
		return false;
	/* IBA 10.8.3.3 */
	if ((request->flags & BELLHOP_SQE_FENCE) && begins && requester->reads)
		return false;
	/* IBA 9.7.3.2: no more than the responder has resources for. */
	return !bellhop_request_has_answer(request) || requester->reads < requester->max_rd_atomic;
}

/* An answer is worth a packet when nothing more is to be sent, and now and then (IBA 9.7.5.1.2). */
static bool asks_for_ack(struct bellhop_requester *requester)
{
	requester->unasked++;
	if (requester->sent != requester->end &&
	    requester->sent - requester->una < requester->allowed &&
	    requester->unasked < BELLHOP_REQUESTER_ACK_EVERY)
		return false;
	requester->unasked = 0;
	return true;
}

/* A packet of the message whose number is @count. Returns how many positions it takes. */
static u32 plan_packet(const struct bellhop_requester *requester, u32 count, u64 position, u64 end,
		       struct bellhop_request_packet *packet)
{
	u32 packets = bellhop_request_plan(at(requester, count), requester->service, requester->mtu,
					   position, end, packet);

	packet->request = count & (requester->depth - 1);
	packet->again = position < requester->high;
	return packets;
}

/*
 * What is missing is sent without asking whether it may: it was sent before. Where it is answers,
 * what has none is not missing.
 */
static bool repair_next(struct bellhop_requester *requester, struct bellhop_request_packet *packet)
{
	u64 end = requester->repairs_answers ? requester->repair_end : requester->end;
	u32 count;

	for (count = requester->unacked; requester->repair < requester->repair_end; count++) {
		const struct bellhop_request *request = at(requester, count);
		bool has_answer = bellhop_request_has_answer(request);

		if (requester->repair >= bellhop_request_end(request))
			continue;
		if (requester->repairs_answers && !has_answer) {
			requester->repair = bellhop_request_end(request);
			continue;
		}
		requester->repair += plan_packet(requester, count, requester->repair, end, packet);
		packet->ack_request = !has_answer && requester->repair >= requester->repair_end;
		return true;
	}
	return false;
}

bool bellhop_requester_next(struct bellhop_requester *requester, u64 now_ns,
			    struct bellhop_request_packet *packet)
{
	const struct bellhop_request *request = at(requester, requester->sending);
	u64 position = requester->sent;

	if (now_ns < requester->resume_ns)
		return false;
	if (repair_next(requester, packet))
		return true;
	if (position == requester->end || !may_send(requester, request))
		return false;
	requester->resume_ns = 0;
	if (bellhop_request_has_answer(request))
		requester->reads++;
	requester->sent +=
		plan_packet(requester, requester->sending, position, requester->end, packet);
	if (requester->sent == bellhop_request_end(request))
		requester->sending++;
	if (requester->high < requester->sent)
		requester->high = requester->sent;
	if (!is_reliable(requester)) {
		advance(requester, requester->sent, now_ns);
		return true;
	}
	packet->ack_request = !bellhop_request_has_answer(request) && asks_for_ack(requester);
	if (!packet->again && (packet->ack_request || bellhop_request_has_answer(request)))
		bellhop_rtt_send(&requester->probe.rtt, position, now_ns);
	if (!requester->deadline_ns)
		arm(requester, now_ns);
	return true;
}

static void rewind_to_una(struct bellhop_requester *requester)
{
	requester->sent = requester->una;
	requester->sending = requester->unacked;
	requester->reads = 0;
	requester->unasked = 0;
	requester->gone_back = true;
	requester->repair_end = 0;
}

static void go_back(struct bellhop_requester *requester)
{
	bellhop_probe_forget(&requester->probe);
	rewind_to_una(requester);
}

static struct bellhop_requester_plan try_again(struct bellhop_requester *requester, u64 now_ns)
{
	struct bellhop_retry_plan plan = bellhop_retry_silent(&requester->retry);

	if (plan.give_up)
		return fail(BELLHOP_REASON_SILENT);
	go_back(requester);
	/*
	 * A responder that is slow is not helped by hearing everything once more: up to four times
	 * as long is still as it was told (IBA 9.7.6.1.3).
	 */
	requester->deadline_ns =
		now_ns +
		(plan.wait_ns << (requester->retry.silent < 4 ? requester->retry.silent / 2 : 2));
	bellhop_probe_arm(&requester->probe, now_ns);
	return just(BELLHOP_REQUESTER_GO_ON);
}

/*
 * Something was answered that comes behind what was not (IBA 9.7.6.1.2: implied NAK). What is under
 * way still says so again and again, of which once is enough.
 */
static struct bellhop_requester_plan imply_loss(struct bellhop_requester *requester, u64 now_ns)
{
	return requester->gone_back ? just(BELLHOP_REQUESTER_DROP) : try_again(requester, now_ns);
}

/* Returns false where an answer is missing (IBA 9.7.5.1.1: later ones acknowledge all before). */
static bool acknowledge(struct bellhop_requester *requester, u64 end, u64 now_ns)
{
	while (requester->una < end) {
		struct bellhop_request *request = at(requester, requester->unacked);
		u64 to = bellhop_request_end(request) < end ? bellhop_request_end(request) : end;

		if (bellhop_request_has_answer(request))
			return false;
		advance(requester, to, now_ns);
	}
	return true;
}

/* IBA 9.7.5.2.8 */
static struct bellhop_requester_plan wait_until_ready(struct bellhop_requester *requester, u8 timer,
						      u64 now_ns)
{
	struct bellhop_retry_plan plan = bellhop_retry_rnr(&requester->retry, timer);

	if (plan.give_up)
		return fail(BELLHOP_REASON_RNR);
	go_back(requester);
	disarm(requester);
	requester->resume_ns = now_ns + plan.wait_ns;
	return just(BELLHOP_REQUESTER_GO_ON);
}

/* IBA 9.7.5.2, 9.7.6.1.1; codes that are reserved say nothing. */
static struct bellhop_requester_plan hear_nak(struct bellhop_requester *requester, u32 code,
					      u64 now_ns)
{
	switch (code) {
	case BELLHOP_NAK_PSN_SEQUENCE_ERROR:
		/* The network may have doubled it. */
		if (requester->gone_back && requester->sent == requester->una)
			return just(BELLHOP_REQUESTER_DROP);
		return try_again(requester, now_ns);
	case BELLHOP_NAK_INVALID_REQUEST:
		return fail(BELLHOP_REASON_NAK_INVALID_REQUEST);
	case BELLHOP_NAK_REMOTE_ACCESS_ERROR:
		return fail(BELLHOP_REASON_NAK_ACCESS);
	case BELLHOP_NAK_REMOTE_OPERATIONAL_ERROR:
		return fail(BELLHOP_REASON_NAK_OPERATIONAL);
	default:
		return just(BELLHOP_REQUESTER_DROP);
	}
}

/* What is sent again, from @una on. */
static void repair(struct bellhop_requester *requester, u32 packets, bool answers, u64 now_ns)
{
	u64 end = requester->una + packets;

	requester->repair = requester->una;
	requester->repair_end = end < requester->sent ? end : requester->sent;
	requester->repairs_answers = answers;
	bellhop_probe_forget(&requester->probe);
	if (requester->deadline_ns)
		bellhop_probe_arm(&requester->probe, now_ns);
}

/* Answers before @end are missing, which is worth a request once: the timers do the rest. */
static struct bellhop_requester_plan ask(struct bellhop_requester *requester, u64 end, u64 now_ns)
{
	if (requester->una < requester->asked)
		return just(BELLHOP_REQUESTER_DROP);
	requester->asked = end;
	repair(requester, (u32)(end - requester->una), true, now_ns);
	return just(BELLHOP_REQUESTER_GO_ON);
}

static struct bellhop_requester_plan hear_ack(struct bellhop_requester *requester, u64 end,
					      u64 now_ns)
{
	if (requester->heard < end)
		requester->heard = end;
	if (acknowledge(requester, end, now_ns))
		return just(BELLHOP_REQUESTER_GO_ON);
	return ask(requester, end, now_ns);
}

static struct bellhop_requester_plan hear(struct bellhop_requester *requester, u8 syndrome,
					  u64 position, u64 now_ns)
{
	enum bellhop_syndrome kind = bellhop_syndrome_kind(syndrome);

	if (kind == BELLHOP_SYNDROME_ACK)
		return hear_ack(requester, position + 1, now_ns);
	if (!acknowledge(requester, position, now_ns))
		return imply_loss(requester, now_ns);
	switch (kind) {
	case BELLHOP_SYNDROME_RNR_NAK:
		return wait_until_ready(requester, bellhop_syndrome_value(syndrome), now_ns);
	case BELLHOP_SYNDROME_REPAIR:
		repair(requester, bellhop_syndrome_value(syndrome) + 1, false, now_ns);
		return just(BELLHOP_REQUESTER_GO_ON);
	default:
		return hear_nak(requester, bellhop_syndrome_value(syndrome), now_ns);
	}
}

static struct bellhop_requester_plan place(const struct bellhop_requester *requester, u32 count,
					   u64 position)
{
	const struct bellhop_request *request = at(requester, count);
	u64 number = position - request->first;

	return (struct bellhop_requester_plan){
		.verdict = BELLHOP_REQUESTER_PLACE,
		.request = count & (requester->depth - 1),
		.position = position,
		.offset = (u32)number * requester->mtu,
		.bytes = request->wr == BELLHOP_WR_ATOMIC_WRITE
				 ? 0
				 : bellhop_request_bytes(request, requester->mtu, position),
	};
}

/* Answers before it are missing. The bytes of a read can be had in any order. */
static struct bellhop_requester_plan take_early(struct bellhop_requester *requester,
						const struct bellhop_transport *transport,
						u64 position, u64 now_ns)
{
	u32 count = requester->unacked;

	while (position >= bellhop_request_end(at(requester, count)))
		count++;
	if (position - requester->una < BELLHOP_STASH_PLACES &&
	    at(requester, count)->wr == BELLHOP_WR_RDMA_READ &&
	    bellhop_request_is_answer(at(requester, count), requester->mtu, transport, position))
		return place(requester, count, position);
	return imply_loss(requester, now_ns);
}

static struct bellhop_requester_plan take(struct bellhop_requester *requester,
					  const struct bellhop_transport *transport, u64 position,
					  u64 now_ns)
{
	if (!acknowledge(requester, position, now_ns))
		return take_early(requester, transport, position, now_ns);
	if (!bellhop_request_is_answer(at(requester, requester->unacked), requester->mtu, transport,
				       position))
		return fail(BELLHOP_REASON_BAD_RESPONSE);
	return place(requester, requester->unacked, position);
}

struct bellhop_requester_plan bellhop_requester_receive(struct bellhop_requester *requester,
							const struct bellhop_transport *transport,
							u64 now_ns)
{
	s32 ahead = bellhop_psn_distance(requester->una & BELLHOP_PSN_MASK, transport->psn);
	u64 position = requester->una + (u64)ahead;

	/* What is no answer to something under way is left over from the past (IBA 9.7.6.1). */
	if (ahead < 0 || position >= requester->high)
		return just(BELLHOP_REQUESTER_DROP);
	if (bellhop_bth_row(transport->opcode)->operation == BELLHOP_OPERATION_ACKNOWLEDGE)
		return hear(requester, transport->syndrome, position, now_ns);
	return take(requester, transport, position, now_ns);
}

/* The first answer that was missing has come. */
static void step(struct bellhop_requester *requester, u64 now_ns)
{
	const struct bellhop_request *request = at(requester, requester->unacked);
	/* An answer that comes after all to what has not been asked again since. */
	bool late = requester->sent == requester->una;

	if (!late && bellhop_request_ends_at(request, requester->una))
		requester->reads--;
	advance(requester, requester->una + 1, now_ns);
}

static u32 gap_of(const struct bellhop_requester *requester)
{
	return bellhop_stash_gap(&requester->early, requester->una & BELLHOP_PSN_MASK);
}

void bellhop_requester_placed(struct bellhop_requester *requester,
			      const struct bellhop_requester_plan *plan, u64 now_ns)
{
	u32 place;

	if (plan->position == requester->una) {
		do {
			step(requester, now_ns);
			acknowledge(requester, requester->una + gap_of(requester), now_ns);
			acknowledge(requester, requester->heard, now_ns);
		} while (bellhop_stash_take(&requester->early, requester->una & BELLHOP_PSN_MASK,
					    &place));
	} else {
		bellhop_stash_put(&requester->early, requester->una & BELLHOP_PSN_MASK,
				  plan->position & BELLHOP_PSN_MASK, &place);
	}
	if (gap_of(requester))
		ask(requester, requester->una + gap_of(requester), now_ns);
}

struct bellhop_requester_plan bellhop_requester_expire(struct bellhop_requester *requester,
						       u64 now_ns)
{
	if (requester->deadline_ns && now_ns >= requester->deadline_ns) {
		requester->allowed = 1;
		return try_again(requester, now_ns);
	}
	if (!bellhop_probe_is_due(&requester->probe, now_ns))
		return just(BELLHOP_REQUESTER_DROP);
	bellhop_probe_go_back(&requester->probe, requester->sent, requester->reads);
	rewind_to_una(requester);
	requester->allowed = 1;
	bellhop_probe_arm(&requester->probe, now_ns);
	return just(BELLHOP_REQUESTER_GO_ON);
}

bool bellhop_requester_done(struct bellhop_requester *requester, u32 *request)
{
	if (requester->oldest == requester->unacked)
		return false;
	*request = requester->oldest++ & (requester->depth - 1);
	return true;
}

bool bellhop_requester_abandon(struct bellhop_requester *requester, u32 *request)
{
	if (requester->oldest == requester->newest)
		return false;
	if (requester->unacked == requester->oldest)
		requester->unacked++;
	*request = requester->oldest++ & (requester->depth - 1);
	/* Nothing is sent any more, and no time waited for. */
	requester->una = requester->end;
	requester->sent = requester->end;
	requester->high = requester->end;
	requester->sending = requester->newest;
	requester->repair_end = 0;
	disarm(requester);
	requester->resume_ns = 0;
	return true;
}

void bellhop_requester_rest(struct bellhop_requester *requester, u64 until_ns)
{
	go_back(requester);
	/* It is no try that failed. */
	bellhop_retry_progress(&requester->retry);
	disarm(requester);
	requester->resume_ns = until_ns;
}
