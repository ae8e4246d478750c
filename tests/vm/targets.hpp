// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// targets.hpp: QPs on two hosts that anybody may break, since they come again, and memory around
// what is theirs to write.
#ifndef BELLHOP_VM_TARGETS_HPP
#define BELLHOP_VM_TARGETS_HPP

#include <mutex>
#include "forgery.hpp"

namespace vm
{

/** A host's device, and memory of which only some is open to everybody. */
class Ground
{
public:
	explicit Ground(const Host &host) : host(host), device(host.device)
	{
		fill(memory_.bytes(), 1);
	}

	const Host host;
	Device device;
	Pd pd{ device }, other_pd{ device };

private:
	/* Pages: a wall, four that are open, a wall, one to read, a wall, another domain's, a wall.
	 */
	static constexpr size_t page = 4096, open_pages = 4;
	Memory memory_{ 10 * page };

	uint8_t *page_at(size_t number) const
	{
		return memory_.data() + number * page;
	}

public:
	static constexpr size_t open_bytes = open_pages * page;
	Mr open{ pd, page_at(1), open_bytes };
	Mr shown{ pd, page_at(6), page, IBV_ACCESS_REMOTE_READ };
	Mr foreign{ other_pd, page_at(8), page };

	uint64_t address() const
	{
		return reinterpret_cast<uintptr_t>(page_at(1));
	}

	ibv_sge sge(size_t offset, uint32_t length) const
	{
		return { address() + offset, length, open.lkey() };
	}

	/** Whether nothing was written but what is open. */
	bool is_intact() const
	{
		Bytes expected(memory_.size());

		fill(expected, 1);
		std::memcpy(&expected[page], page_at(1), open_bytes);
		return std::ranges::equal(expected, memory_.bytes());
	}
};

enum class TargetKind {
	pair, /* two that are connected */
	lone, /* whose peer is not there, and can be played by anybody */
	unreliable,
	datagrams,
};

/** Two QPs, one on each host. */
class Target
{
public:
	Target(const Ground &here, const Ground &there, TargetKind kind, std::mt19937 &random)
	    : kind_(kind),
	      family_(random() % 2 ? Family::ipv4 : Family::ipv6), ends_{ { here, type() },
									  { there, type() } }
	{
		ibv_gid dgid = there.host.gid(family_);

		if (kind == TargetKind::datagrams)
			ah_.emplace(
				here.pd, dgid,
				static_cast<uint8_t>(here.device.find_gid(here.host.gid(family_))));
		revive(random);
	}

	/** RESET, and to where packets are heard, as a rule. */
	void revive(std::mt19937 &random)
	{
		static constexpr uint32_t psns[] = { first_psn, 0, 0xfffff8, 0x7ffffc };
		static constexpr ibv_mtu mtus[] = { IBV_MTU_256, IBV_MTU_1024 };
		Path path;

		psn_ = psns[random() % std::size(psns)];
		path.mtu = mtus[random() % std::size(mtus)];
		mtu_ = 128u << path.mtu;
		path.timeout = 12; /* 17 ms */
		path.rnr_retry = random() % 8;
		path.max_dest_rd_atomic = random() % 2 ? 1 : 16;
		for (int i = 0; i < 2; i++) {
			EXPECT_EQ(ends_[i].qp.modify(to_state(IBV_QPS_RESET)), 0);
			/* One in eight gets no farther. */
			if (random() % 8)
				open(ends_[i], ends_[!i], path, random() % 8);
		}
	}

	/** Asks for something, and takes what comes; it need not be right. */
	void work(std::mt19937 &random) const
	{
		for (const End &end : ends_) {
			const uint32_t offset = random() % 8192, length = random() % 8192;

			if (random() % 2)
				post_recv(end.qp, { end.ground.sge(offset, length) });
			post(end.qp, some_request(end, random));
			for (const Cq *cq : { &end.send_cq, &end.recv_cq })
				while (cq->poll())
					;
		}
	}

	bool is_broken() const
	{
		return ends_[0].qp.state() != IBV_QPS_RTS || ends_[1].qp.state() != IBV_QPS_RTS;
	}

	/** Its QPs, for who wants to attack them. */
	std::array<Mark, 2> marks() const
	{
		std::array<Mark, 2> marks;

		for (int i = 0; i < 2; i++) {
			const Ground &ground = ends_[i].ground;

			marks[i] = { .at = ground.host,
				     .from = ends_[!i].ground.host,
				     .family = family_,
				     .service = service(),
				     .qpn = ends_[i].number(),
				     .peer = peer_of(ends_[!i]),
				     .qkey = qkey,
				     .psn = psn_,
				     .mtu = mtu_,
				     .keys = { ground.open.rkey(), ground.shown.rkey(),
					       ground.foreign.rkey(), ground.open.lkey() },
				     .address = ground.address(),
				     .length = Ground::open_bytes };
		}
		return marks;
	}

	/** Whether all of it can be. */
	bool destroy()
	{
		bool all = true;

		for (End &end : ends_)
			all = !end.qp.destroy() && !end.send_cq.destroy() &&
			      !end.recv_cq.destroy() && all;
		return all;
	}

private:
	static constexpr uint32_t qkey = 0x1234567;

	struct End {
		End(const Ground &ground, ibv_qp_type type)
		    : ground(ground), send_cq(ground.device, 256), recv_cq(ground.device, 256),
		      qp(ground.device, ground.pd.get(), send_cq, recv_cq, { .type = type })
		{
		}

		uint32_t number() const
		{
			return qp.get()->qp_num;
		}

		const Ground &ground;
		Cq send_cq, recv_cq;
		Qp qp;
	};

	ibv_qp_type type() const
	{
		return kind_ == TargetKind::datagrams	 ? IBV_QPT_UD
		       : kind_ == TargetKind::unreliable ? IBV_QPT_UC
							 : IBV_QPT_RC;
	}

	uint8_t service() const
	{
		return kind_ == TargetKind::datagrams	 ? BELLHOP_BTH_UD
		       : kind_ == TargetKind::unreliable ? BELLHOP_BTH_UC
							 : BELLHOP_BTH_RC;
	}

	/* A generation that is not there. */
	uint32_t peer_of(const End &other) const
	{
		return other.number() ^ (kind_ == TargetKind::lone ? 1u << 22 : 0);
	}

	void open(const End &end, const End &other, const Path &path, bool sends) const
	{
		if (kind_ == TargetKind::datagrams) {
			EXPECT_EQ(end.qp.open(qkey), 0);
			return;
		}
		Change rtr = to_rtr({ other.ground.host.gid(family_), peer_of(other) }, path);
		Change rts = to_rts(path);

		rtr.attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(
			end.ground.device.find_gid(end.ground.host.gid(family_)));
		rtr.attr.rq_psn = psn_;
		rts.attr.sq_psn = psn_;
		EXPECT_EQ(end.qp.modify(to_init(path)), 0);
		EXPECT_EQ(end.qp.modify(rtr), 0);
		/* A packet may have broken it by then. */
		if (sends)
			EXPECT_TRUE(!end.qp.modify(rts) || end.qp.state() == IBV_QPS_ERR);
	}

	Send some_request(const End &end, std::mt19937 &random) const
	{
		static constexpr ibv_wr_opcode opcodes[] = {
			IBV_WR_SEND,	   IBV_WR_SEND_WITH_IMM,
			IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
			IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_FETCH_AND_ADD,
		};
		const Ground &peer = (&end == &ends_[0] ? ends_[1] : ends_[0]).ground;
		const uint32_t length = random() % 8192;
		Send send = { .opcode =
				      opcodes[random() % (kind_ == TargetKind::unreliable ? 4 : 6)],
			      .sges = { end.ground.sge(random() % 64, length) },
			      .remote = peer.address() + 8 * (random() % 64),
			      .rkey = peer.open.rkey() };

		if (send.is_atomic())
			send.sges[0].length = 8;
		if (kind_ == TargetKind::datagrams) {
			send.opcode = IBV_WR_SEND;
			send.sges[0].length %= 1024;
			send.ah = ah_->get();
			send.qpn = ends_[1].number();
			send.qkey = qkey;
			/* The handle is the first's, and so is its domain. */
			if (&end != &ends_[0])
				send.sges[0].length = 0;
		}
		return send;
	}

	const TargetKind kind_;
	const Family family_;
	uint32_t psn_ = 0, mtu_ = 0;
	End ends_[2];
	std::optional<AddressHandle> ah_;
};

/** Targets that are used, broken, and made again, by one thread, and looked at by others. */
class Targets
{
public:
	explicit Targets(uint32_t seed) : random_(seed)
	{
		for (size_t i = 0; i < targets_.size(); i++)
			make(i);
	}

	/** Does something to one of them. */
	void tend()
	{
		const size_t i = random_() % targets_.size();

		if (random_() % 64 == 0) {
			EXPECT_TRUE(targets_[i]->destroy());
			targets_[i].reset();
			make(i);
			replaced_++;
		} else if (targets_[i]->is_broken() && random_() % 4 == 0) {
			targets_[i]->revive(random_);
			revived_++;
			publish(i);
		} else {
			targets_[i]->work(random_);
		}
	}

	/** Any QP of them. */
	Mark some(std::mt19937 &random) const
	{
		const std::lock_guard guard(mutex_);

		return marks_[random() % marks_.size()][random() % 2];
	}

	/** All can be destroyed, and have written nothing that they may not. */
	void expect_end()
	{
		for (std::optional<Target> &target : targets_) {
			EXPECT_TRUE(target->destroy());
			target.reset();
		}
		for (const Ground *ground : { &here_, &there_ })
			EXPECT_TRUE(ground->is_intact())
				<< "packets have changed what they may not, of "
				<< ground->host.device;
		note("targets: %u times revived, %u times replaced", revived_, replaced_);
		EXPECT_GT(revived_, 0u);
		EXPECT_GT(replaced_, 0u);
	}

private:
	static constexpr std::array kinds = {
		TargetKind::pair,	TargetKind::pair,      TargetKind::lone,
		TargetKind::unreliable, TargetKind::datagrams,
	};

	void make(size_t i)
	{
		targets_[i].emplace(here_, there_, kinds[i], random_);
		publish(i);
	}

	void publish(size_t i)
	{
		const std::lock_guard guard(mutex_);

		marks_[i] = targets_[i]->marks();
	}

	std::mt19937 random_;
	Ground here_{ far }, there_{ away };
	std::array<std::optional<Target>, kinds.size()> targets_;
	mutable std::mutex mutex_; /* what follows */
	std::array<std::array<Mark, 2>, kinds.size()> marks_;
	uint32_t revived_ = 0, replaced_ = 0; /* of the thread that tends */
};

} // namespace vm

#endif
