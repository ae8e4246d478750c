// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// xrc_shared.cpp: XRC domains and targets are shared, and outlive whoever goes first, in the middle
// of traffic, too.
#include <atomic>
#include <thread>
#include "child.hpp"
#include "ktap.hpp"
#include "line.hpp"
#include "seed.hpp"
#include "xrc.hpp"

namespace
{

using namespace vm;

/* Gives up within a fraction of a second: timeout 12 is 17 ms. */
constexpr Path impatient = { .timeout = 12, .retry_cnt = 3 };

TEST(XrcShared, domains_are_those_of_files)
{
	Device one, other;
	SharedFile file, another;

	EXPECT_EQ(Xrcd::open(one, file.fd(), 0), nullptr);
	EXPECT_EQ(errno, EAGAIN) << "there is none yet";
	Xrcd first(one, file.fd(), O_CREAT | O_EXCL);
	EXPECT_EQ(Xrcd::open(other, file.fd(), O_CREAT | O_EXCL), nullptr);
	EXPECT_EQ(errno, EINVAL) << "there is one already";
	Xrcd same(other, file.fd(), 0), different(other, another.fd());
	Qp target(one, first.get());
	Receiver in_same(other, same), in_different(other, different);
	Initiator a;

	a.connect(target);
	in_same.receive(1);
	a.run({ .id = 1, .srqn = in_same.srq.number() });
	expect(in_same.cq, target, 1);
	expect_reason(a.run({ .id = 2, .srqn = in_different.srq.number() }, IBV_WC_REM_ACCESS_ERR),
		      BELLHOP_REASON_XRC_DOMAIN);
}

TEST(XrcShared, domains_are_kept_by_what_is_in_them)
{
	Device device;
	Xrcd xrcd(device);
	{
		Receiver b(device, xrcd);
		EXPECT_EQ(xrcd.close(), EBUSY);
	}
	{
		Qp target(device, xrcd.get());
		EXPECT_EQ(xrcd.close(), EBUSY);
	}
	EXPECT_EQ(xrcd.close(), 0);
}

TEST(XrcShared, a_target_lives_as_long_as_anybody_has_it_open)
{
	Device one, other;
	SharedFile file;
	Xrcd first(one, file.fd()), second(other, file.fd());
	Receiver b(other, second);
	Qp created(one, first.get());
	Initiator a;

	a.connect(created, impatient);
	{
		Qp opened(other, second.get(), created.get()->qp_num);
		EXPECT_EQ(opened.state(), IBV_QPS_RTS);
		ASSERT_EQ(created.destroy(), 0);
		ASSERT_EQ(first.close(), 0);
		b.receive(1);
		a.run({ .id = 1, .srqn = b.srq.number() });
		expect(b.cq, opened, 1);
		/* Whoever has it open may change it. */
		ASSERT_EQ(opened.modify(to_state(IBV_QPS_RESET)), 0);
		ASSERT_EQ(a.qp.modify(to_state(IBV_QPS_RESET)), 0);
		a.connect(opened, impatient);
		b.receive(2);
		a.run({ .id = 2, .srqn = b.srq.number() });
		expect(b.cq, opened, 2);
	}
	a.run({ .id = 3, .srqn = b.srq.number() }, IBV_WC_RETRY_EXC_ERR);
}

TEST(XrcShared, completions_go_with_their_srq)
{
	Device device;
	Xrcd xrcd(device);
	Receiver b(device, xrcd);
	Srq other(b.pd, xrcd.get(), b.cq);
	Qp target(device, xrcd.get());
	Initiator a;

	a.connect(target);
	for (uint64_t id : { 1, 2 }) {
		const Srq &srq = id == 1 ? b.srq : other;

		ASSERT_EQ(srq.post({ b.region.sge(0, 64) }, id), 0);
		a.run({ .id = id, .srqn = srq.number() });
	}
	/* A target's completions stay without it. */
	const uint32_t qpn = target.get()->qp_num;
	ASSERT_EQ(target.destroy(), 0);
	ASSERT_EQ(b.srq.destroy(), 0);
	const ibv_wc wc = b.cq.next();
	EXPECT_EQ(wc.wr_id, 2u);
	EXPECT_EQ(wc.qp_num, qpn);
	expect_none(b.cq);
}

/* Sends all the time, whatever comes of it, until one fails. */
class Stream
{
public:
	Stream(const Initiator &from, uint32_t srqn, ibv_wr_opcode opcode, const Region &to)
	    : thread_([&from, srqn, opcode, &to, this] { run(from, srqn, opcode, to); })
	{
	}

	/** What it ended with, after @moved messages at least were moved and @strike came. */
	ibv_wc_status end(const std::function<void()> &strike)
	{
		const Deadline deadline(patience);

		while (moved_ < 3 && !deadline.passed())
			usleep(100);
		strike();
		thread_.join();
		EXPECT_GE(moved_, 3u);
		return status_;
	}

private:
	void run(const Initiator &from, uint32_t srqn, ibv_wr_opcode opcode, const Region &to)
	{
		const Send send = { .opcode = opcode,
				    .sges = { from.region.sge(0, 1 << 20) },
				    .remote = to.address(),
				    .rkey = to.mr.rkey(),
				    .srqn = srqn };

		for (int i = 0; i < 4; i++)
			EXPECT_EQ(post(from.qp, send), 0);
		for (;;) {
			const std::optional<ibv_wc> wc = from.cq.wait();

			if (!wc || wc->status != IBV_WC_SUCCESS) {
				status_ = wc ? wc->status : IBV_WC_GENERAL_ERR;
				return;
			}
			moved_++;
			EXPECT_EQ(post(from.qp, send), 0);
		}
	}

	std::atomic<unsigned> moved_ = 0;
	ibv_wc_status status_ = IBV_WC_SUCCESS;
	std::thread thread_;
};

class XrcTakeDown : public testing::TestWithParam<ibv_wr_opcode>
{
protected:
	XrcTakeDown()
	{
		a.connect(target, impatient);
	}

	/** Entries come for as long as the SRQ is there. */
	void feed()
	{
		while (!fed_) {
			b.srq.post({ b.region.sge(0, 1 << 20) }, 0);
			b.cq.poll();
		}
	}

	ibv_wc_status end(const std::function<void()> &strike)
	{
		std::thread feeder([this] { feed(); });
		Stream stream(a, b.srq.number(), GetParam(), b.region);
		const ibv_wc_status status = stream.end([&] {
			fed_ = true;
			feeder.join();
			strike();
		});

		return status;
	}

	Device device;
	SharedFile file;
	Xrcd xrcd{ device, file.fd() };
	Receiver b{ device, xrcd, 1 << 20 };
	Qp target{ device, xrcd.get() };
	Initiator a{ false, 1 << 20 };
	std::atomic<bool> fed_ = false;
};

INSTANTIATE_TEST_SUITE_P(Of, XrcTakeDown,
			 testing::Values(IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ));

TEST_P(XrcTakeDown, srq)
{
	EXPECT_EQ(end([&] { EXPECT_EQ(b.srq.destroy(), 0); }), IBV_WC_REM_ACCESS_ERR);
	EXPECT_TRUE(target.reaches(IBV_QPS_ERR));
}

TEST_P(XrcTakeDown, target)
{
	EXPECT_EQ(end([&] { EXPECT_EQ(target.destroy(), 0); }), IBV_WC_RETRY_EXC_ERR);
}

TEST_P(XrcTakeDown, region)
{
	const ibv_sge sge = b.region.sge(0, 1 << 20);

	EXPECT_EQ(end([&] {
			  ASSERT_EQ(b.region.mr.deregister(), 0);
			  /* There must be an entry that names it; more need not fit. */
			  b.srq.post({ sge }, 1);
		  }),
		  GetParam() == IBV_WR_SEND ? IBV_WC_REM_OP_ERR : IBV_WC_REM_ACCESS_ERR);
}

TEST_P(XrcTakeDown, reset)
{
	EXPECT_EQ(end([&] { EXPECT_EQ(target.modify(to_state(IBV_QPS_RESET)), 0); }),
		  IBV_WC_RETRY_EXC_ERR);
}

/* What the process that dies tells of itself. */
struct Notice {
	uint32_t srqn;
	uint64_t start;
	uint32_t rkey;
};

/* The SRQ is another process's; the domain and the target are both's. */
TEST(XrcKilled, owner_of_the_srq)
{
	std::mt19937 random(seed());

	for (int round = 0; round < 10; round++) {
		SharedFile file;
		Line line;
		Child child([&] {
			line.take(1);
			Device device;
			Xrcd xrcd(device, file.fd());
			Receiver b(device, xrcd, 1 << 20, 4096);
			std::optional<uint32_t> qpn;

			line.tell(Notice{ b.srq.number(), b.region.address(), b.region.mr.rkey() });
			qpn = line.hear<uint32_t>();
			Qp target(device, xrcd.get(), qpn.value());
			for (;;) {
				b.srq.post({ b.region.sge(0, 1 << 20) }, 0);
				b.cq.poll();
			}
			return 0;
		});
		line.take(0);
		const std::optional<Notice> notice = line.hear<Notice>();
		ASSERT_TRUE(notice);
		Device device;
		Xrcd xrcd(device, file.fd());
		Qp target(device, xrcd.get());
		Initiator a(false, 1 << 20);

		a.connect(target, impatient);
		line.tell(target.get()->qp_num);
		const auto death = std::chrono::steady_clock::now() +
				   std::chrono::microseconds(random() % 30000);
		bool killed = false;
		ibv_wc_status status = IBV_WC_SUCCESS;
		const Deadline deadline(patience);

		while (status == IBV_WC_SUCCESS && !deadline.passed()) {
			const Send send = { .opcode = round % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
					    .sges = { a.region.sge(0, 1 << 20) },
					    .remote = notice->start,
					    .rkey = notice->rkey,
					    .srqn = notice->srqn };

			if (!killed && std::chrono::steady_clock::now() > death) {
				child.kill();
				killed = true;
			}
			ASSERT_EQ(post(a.qp, send), 0);
			status = a.cq.next().status;
		}
		EXPECT_TRUE(killed);
		/* Its region goes first, or its SRQ. */
		EXPECT_TRUE(status == IBV_WC_REM_ACCESS_ERR ||
			    (round % 2 && status == IBV_WC_REM_OP_ERR))
			<< ibv_wc_status_str(status);
		EXPECT_TRUE(child.wait());
		/* The domain is good for others. */
		for (const Qp *qp : { &a.qp, &target })
			ASSERT_EQ(qp->modify(to_state(IBV_QPS_RESET)), 0);
		a.connect(target);
		Receiver b(device, xrcd);
		b.receive(1);
		a.run({ .id = 1, .srqn = b.srq.number() });
		expect(b.cq, target, 1);
		if (HasFailure())
			return;
	}
}

/* The target was made by another process, and is open here as well. */
TEST(XrcKilled, maker_of_the_target)
{
	for (bool is_open : { true, false }) {
		SharedFile file;
		Line line;
		Child child([&] {
			line.take(1);
			Device device;
			Xrcd xrcd(device, file.fd());
			Qp target(device, xrcd.get());

			line.tell(target.get()->qp_num);
			line.hear<uint8_t>();
			pause();
			return 0;
		});
		line.take(0);
		const std::optional<uint32_t> qpn = line.hear<uint32_t>();
		ASSERT_TRUE(qpn);
		Device device;
		Xrcd xrcd(device, file.fd());
		Receiver b(device, xrcd);
		Initiator a;
		std::optional<Qp> target(std::in_place, device, xrcd.get(), *qpn);

		a.connect(*target, impatient);
		if (!is_open)
			target.reset();
		b.receive(1);
		a.run({ .id = 1, .srqn = b.srq.number() });
		EXPECT_EQ(b.cq.next().qp_num, *qpn);
		child.kill();
		EXPECT_TRUE(child.wait());
		b.receive(2);
		a.run({ .id = 2, .srqn = b.srq.number() },
		      is_open ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR);
		if (is_open)
			EXPECT_EQ(b.cq.next().wr_id, 2u);
	}
}

} // namespace

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
