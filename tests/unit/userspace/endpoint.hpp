// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// endpoint.hpp: a CQ and QPs on it, as the provider has them, over rings in plain memory.
#pragma once

#include <cstdint>
#include <stdexcept>
#include "completion_queue.hpp"
#include "kernel_end.hpp"
#include "kick_record.hpp"
#include "queue_pair.hpp"

// What the QPs of a test have in common: one context and one CQ.
class Surroundings
{
public:
	explicit Surroundings(bool is_locked = true, std::uint32_t cq_slots = 16)
	    : cq_end(cq_slots), cq(is_locked, qps)
	{
		kick_record().clear();
		kick.watch(&status);
		cq.attach(cq_end.memory.bytes(), cq_end.map);
	}

	bellhop_status status{ .need_kick = 1, .gone = 0 };
	bellhop::Kick kick;
	bellhop::QpTable qps;
	CompletionEnd cq_end;
	bellhop::CompletionQueue cq;
};

// A QP that sends and receives on the surroundings' CQ, open for both.
class Endpoint
{
public:
	static constexpr std::uint32_t SLOTS = 4;
	static constexpr bellhop_wqe_limits SEND_LIMITS = { 4, 64, BELLHOP_SERVICE_RC };
	static constexpr bellhop_wqe_limits RECV_LIMITS = { 4, 0, BELLHOP_SERVICE_RC };

	Endpoint(Surroundings &around, std::uint32_t qpn,
		 bellhop::Service service = bellhop::SERVICE_RC)
	    : sq(SLOTS, bellhop_wqe_send_stride(&SEND_LIMITS)),
	      rq(SLOTS, bellhop_wqe_recv_stride(&RECV_LIMITS)), qp(around.cq.is_locked()),
	      qps_(around.qps)
	{
		qp.qp.qp_num = qpn;
		qp.qp.send_cq = qp.qp.recv_cq = &around.cq.cq;
		if (!qp.send.attach(sq.memory.bytes(), sq.map,
				    { SEND_LIMITS.max_sge, SEND_LIMITS.max_inline, service },
				    around.kick, qpn) ||
		    !qp.recv.attach(rq.memory.bytes(), rq.map, { RECV_LIMITS.max_sge, 0 },
				    around.kick, qpn) ||
		    !qps_.insert(qpn, &qp))
			throw std::runtime_error("no memory for an endpoint");
		qp.enter(IBV_QPS_RTS);
	}
	~Endpoint()
	{
		qps_.erase(qp.qp.qp_num);
	}
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	bellhop_send_wqe take_send()
	{
		return sq.take_send(SEND_LIMITS);
	}
	bellhop_recv_wqe take_recv()
	{
		return rq.take_recv(RECV_LIMITS);
	}

	WorkEnd sq;
	WorkEnd rq;
	bellhop::QueuePair qp;

private:
	bellhop::QpTable &qps_;
};
