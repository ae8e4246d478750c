// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// calls.hpp: connections of rdma_cm, made and ended one after another, both of whose ends are this
// process's.
#ifndef BELLHOP_VM_CALLS_HPP
#define BELLHOP_VM_CALLS_HPP

#include "cm.hpp"
#include "memory.hpp"
#include "report.hpp"

namespace vm
{

/** A listener, and who connects to it again and again. */
class Calls
{
public:
	/** Throws when there is no device of this address. */
	Calls(const char *address, Report &report, uint32_t seed)
	    : where_(ipv4_address(address, 7472)), report_(report), random_(seed),
	      listener_(at_listener_)
	{
		listener_.listen(where_, 8);
		report_.begun = true;
	}

	/** Until it is told to stop, or the device is gone. A call that fails is no end. */
	void run()
	{
		while (!report_.stop && report_.ending == Ending::none) {
			EventChannel at_asker;

			try {
				call(at_asker);
			} catch (const std::exception &error) {
				report_.refuse(error.what());
			}
			if (at_asker.has_seen_removal() || is_removed()) {
				report_.events |= 1u << IBV_EVENT_DEVICE_FATAL;
				report_.ending = Ending::unplugged;
			}
		}
		if (report_.ending == Ending::none)
			report_.ending = Ending::stopped;
	}

private:
	static constexpr uint32_t room = 8192;

	/* Throws when it fails, and no part of it is left. */
	void call(EventChannel &at_asker)
	{
		Identifier asker(at_asker);
		const uint8_t tag = ++tag_;

		asker.ask(at_asker, where_, tag);
		Identifier asked = find(tag);
		asked.create_qp();
		rdma_conn_param param = {};
		require_errno(!rdma_accept(asked.get(), &param), "rdma_accept");
		at_asker.expect(RDMA_CM_EVENT_ESTABLISHED);
		at_listener_.expect(RDMA_CM_EVENT_ESTABLISHED);
		for (int i = 0; i < 4; i++)
			transfer(*asker.get(), *asked.get());
		require_errno(!rdma_disconnect(asker.get()), "rdma_disconnect");
		at_listener_.expect(RDMA_CM_EVENT_DISCONNECTED);
		require_errno(!rdma_disconnect(asked.get()), "rdma_disconnect");
		at_asker.expect(RDMA_CM_EVENT_DISCONNECTED);
	}

	/* Who asks now; who has asked before and given up is turned away, and its news dropped. */
	Identifier find(uint8_t tag)
	{
		for (;;) {
			const std::optional<CmEvent> event = at_listener_.next();

			require(event.has_value(), "nobody asks");
			require(event->type != RDMA_CM_EVENT_DEVICE_REMOVAL, "the device is gone");
			if (event->type != RDMA_CM_EVENT_CONNECT_REQUEST)
				continue;
			Identifier asked(event->id);
			if (event->tag == tag)
				return asked;
		}
	}

	void transfer(rdma_cm_id &from, rdma_cm_id &to)
	{
		Memory memory(2 * room);
		Mr near(from.pd, memory.data(), room), far(to.pd, memory.data() + room, room);
		const uint32_t length = 1 + random_() % room;
		ibv_sge source = { reinterpret_cast<uintptr_t>(memory.data()), length,
				   near.lkey() };
		ibv_sge sink = { source.addr + room, room, far.lkey() };
		ibv_recv_wr recv = {}, *bad_recv;
		ibv_send_wr send = {}, *bad_send;

		fill(memory.bytes(), random_());
		recv.sg_list = &sink;
		recv.num_sge = 1;
		require(!ibv_post_recv(to.qp, &recv, &bad_recv), "ibv_post_recv");
		send.sg_list = &source;
		send.num_sge = 1;
		send.opcode = IBV_WR_SEND;
		send.send_flags = IBV_SEND_SIGNALED;
		require(!ibv_post_send(from.qp, &send, &bad_send), "ibv_post_send");
		complete(from.send_cq);
		complete(to.recv_cq);
		if (std::memcmp(memory.data(), memory.data() + room, length) != 0)
			report_.ending = Ending::wrong;
		report_.transfers++;
	}

	void complete(ibv_cq *cq)
	{
		const Deadline deadline(patience);
		ibv_wc wc;
		int count;

		while (!(count = ibv_poll_cq(cq, 1, &wc))) {
			require(!is_removed(), "the device is gone");
			require(!deadline.passed(), "no completion");
			usleep(100);
		}
		require(count == 1 && wc.status == IBV_WC_SUCCESS, "a completion failed");
	}

	/* Whether it is said now. Other news at such a moment are those of a connection that broke.
	 */
	bool is_removed()
	{
		while (const std::optional<CmEvent> event = at_listener_.next(0))
			if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST)
				Identifier(event->id);
		return at_listener_.has_seen_removal();
	}

	sockaddr_in where_;
	Report &report_;
	std::mt19937 random_;
	uint8_t tag_ = 0;
	EventChannel at_listener_;
	Identifier listener_;
};

} // namespace vm

#endif
