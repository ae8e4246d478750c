// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// connection.hpp: traffic over a reliable connection, which may end in a shared receive queue or in
// one of an XRC domain, or move memory that has windows or whose pages come on demand.
#ifndef BELLHOP_VM_CONNECTION_HPP
#define BELLHOP_VM_CONNECTION_HPP

#include "traffic.hpp"
#include "window.hpp"
#include "xrc.hpp"

namespace vm
{

class Connection : public Traffic
{
public:
	/** @means: not frames. */
	Connection(Means means, const std::string &from, const std::string &to, Report &report,
		   uint32_t seed)
	    : Traffic(from, to, report, seed), means_(means), asker_(a, means), answerer_(b, means)
	{
		answerer_.qp->connect(asker_.qp.address());
		asker_.qp.connect(answerer_.qp->address());
		begin();
	}

	bool transfer() override
	{
		static constexpr ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_SEND,
							     IBV_WR_RDMA_READ,
							     IBV_WR_RDMA_WRITE_WITH_IMM };
		const ibv_wr_opcode opcode = opcodes[random_() % std::size(opcodes)];
		const uint32_t length = 1 + random_() % (random_() % 8 ? 4096 : room / 2);
		const size_t from = random_() % (room / 2);
		const size_t to = random_() % (room / 2);
		const bool is_read = opcode == IBV_WR_RDMA_READ;
		const bool receives = opcode == IBV_WR_SEND || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
		const bool is_windowed = means_ == Means::windows && opcode != IBV_WR_SEND;
		const std::span<uint8_t> near = asker_.region.memory.bytes().subspan(from, length);
		const std::span<uint8_t> far = answerer_.region.memory.bytes().subspan(to, length);
		uint32_t rkey = answerer_.region.mr.rkey();

		if (means_ == Means::demand)
			drop(is_read ? near : far);
		fill(is_read ? far : near, random_());
		if (receives && !receive(opcode, to, length))
			return false;
		if (is_windowed && !open_window(to, length, rkey))
			return false;
		if (post(asker_.qp, { .opcode = opcode,
				      .sges = { asker_.region.sge(from, length) },
				      .remote = answerer_.region.address(to),
				      .rkey = rkey,
				      .srqn = answerer_.srqn() }))
			return await_the_end("a send cannot be posted");
		if (!complete(asker_.cq) || (receives && !notified()))
			return false;
		if (is_windowed && !close_window(rkey))
			return false;
		return finish_transfer(std::memcmp(near.data(), far.data(), length) == 0);
	}

private:
	static constexpr uint32_t room = 256 << 10;

	static int access(Means means)
	{
		return access_all | (means == Means::demand    ? IBV_ACCESS_ON_DEMAND
				     : means == Means::windows ? IBV_ACCESS_MW_BIND
							       : 0);
	}

	struct Asker {
		Asker(const Device &device, Means means)
		    : pd(device), cq(device, 64),
		      qp(device, pd.get(), cq, cq,
			 { .cap = { 16, 0, 2, 0, 64 },
			   .type = means == Means::xrc ? IBV_QPT_XRC_SEND : IBV_QPT_RC }),
		      region(pd, room, access(means))
		{
		}

		Pd pd;
		Cq cq;
		Qp qp;
		Region region;
	};

	/* Its receives raise events. */
	struct Answerer {
		Answerer(const Device &device, Means means)
		    : channel(device), pd(device), send_cq(device, 16),
		      recv_cq(device, 64, &channel), region(pd, room, access(means))
		{
			if (means == Means::xrc) {
				xrcd.emplace(device, file.fd());
				srq.emplace(pd, xrcd->get(), recv_cq);
				qp.emplace(device, xrcd->get());
				return;
			}
			if (means == Means::shared_queue)
				srq.emplace(pd);
			if (means == Means::windows)
				window.emplace(pd, IBV_MW_TYPE_2);
			qp.emplace(device, pd.get(), send_cq, recv_cq,
				   QpShape{ .cap = { 16, 16, 2, 2, 64 },
					    .srq = srq ? srq->get() : nullptr });
		}

		int post(const std::vector<ibv_sge> &sges) const
		{
			return srq ? srq->post(sges, 0) : post_recv(*qp, sges);
		}

		uint32_t srqn() const
		{
			return xrcd ? srq->number() : 0;
		}

		SharedFile file; /* of the domain */
		Channel channel;
		Pd pd;
		Cq send_cq, recv_cq;
		Region region;
		std::optional<Xrcd> xrcd;
		std::optional<Srq> srq;
		std::optional<Window> window;
		std::optional<Qp> qp;
	};

	/* They are not there until somebody wants them. */
	static void drop(std::span<uint8_t> bytes)
	{
		constexpr uintptr_t page = 4096;
		const auto start = reinterpret_cast<uintptr_t>(bytes.data());
		const uintptr_t first = start / page * page;

		require_errno(!madvise(reinterpret_cast<void *>(first),
				       start + bytes.size() - first, MADV_DONTNEED),
			      "madvise");
	}

	bool receive(ibv_wr_opcode opcode, size_t to, uint32_t length)
	{
		std::vector<ibv_sge> sges;

		if (opcode == IBV_WR_SEND)
			sges.push_back(answerer_.region.sge(to, length));
		if (ibv_req_notify_cq(answerer_.recv_cq.get(), 0) || answerer_.post(sges))
			return await_the_end("a receive cannot be posted");
		return true;
	}

	/* Sleeps until the event, and takes what it announces. */
	bool notified()
	{
		const Deadline deadline(patience);
		ibv_cq *from;

		while (!(from = answerer_.channel.next_event(0.01))) {
			if (!look())
				return end(Ending::unplugged);
			if (deadline.passed())
				return end(Ending::silent);
		}
		ibv_ack_cq_events(from, 1);
		return complete(answerer_.recv_cq);
	}

	/* Onto these bytes alone; from now on @rkey is its. */
	bool open_window(size_t to, uint32_t length, uint32_t &rkey)
	{
		const Bind bind = { answerer_.region.mr.get(), answerer_.region.address(to),
				    length };

		rkey = window_rkey_ =
			ibv_inc_rkey(window_rkey_ ? window_rkey_ : answerer_.window->rkey());
		if (post_bind(*answerer_.qp, *answerer_.window, rkey, bind))
			return await_the_end("a window cannot be bound");
		return complete(answerer_.send_cq);
	}

	bool close_window(uint32_t rkey)
	{
		if (post_local_inv(*answerer_.qp, rkey))
			return await_the_end("a window cannot be invalidated");
		return complete(answerer_.send_cq);
	}

	Means means_;
	Asker asker_;
	Answerer answerer_;
	uint32_t window_rkey_ = 0;
};

} // namespace vm

#endif
