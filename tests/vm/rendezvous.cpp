// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rendezvous.cpp: messages that only say where their payload is, and queue pairs that read it by
// themselves.
#include "ktap.hpp"
#include "tag.hpp"

using namespace vm;

namespace
{

class Rendezvous : public testing::Test
{
protected:
	explicit Rendezvous(const Path &path = {}, const Path &path_there = {})
	    : line(end, path, path_there), region(end.pd, 8 << 20)
	{
		fill(line.region.memory.bytes(), 1);
	}

	void add(uint64_t tag, std::vector<ibv_sge> sges, uint64_t id) const
	{
		ASSERT_EQ(end.srq.post({ .flags = IBV_OPS_TM_SYNC,
					 .recv_id = id,
					 .sges = sges,
					 .tag = tag }),
			  0);
	}

	/* What @line sends says that its payload is there. */
	static void send(TagLine &line, uint64_t tag, size_t offset, uint32_t length,
			 uint32_t rkey = 0, uint32_t extra = 0)
	{
		line.send(rendezvous_header(tag, line.region.address(offset),
					    rkey ? rkey : line.region.mr.rkey(), length),
			  sizeof(TagHeader), extra);
	}

	/* Where the sender hears that it was read. */
	static void await(TagLine &line, uint64_t id)
	{
		ASSERT_EQ(post_recv(line.from.qp, { line.region.sge(4096, sizeof(TagHeader)) }, id),
			  0);
	}

	static void expect_over(TagLine &line, uint64_t id, uint64_t tag)
	{
		TagHeader got;

		EXPECT_EQ(expect(line.from.recv_cq, line.from.qp, id).byte_len, sizeof(got));
		std::memcpy(&got, line.region.memory.data() + 4096, sizeof(got));
		EXPECT_EQ(got.tmh.opcode, IBV_TMH_FIN);
		EXPECT_EQ(be64toh(got.tmh.tag), tag);
		EXPECT_EQ(be32toh(got.rvh.rkey), line.region.mr.rkey());
	}

	static void expect_sent(TagLine &line)
	{
		expect(line.from.send_cq, line.from.qp, 1);
	}

	bool is_read(size_t at, size_t from, size_t bytes) const
	{
		return std::ranges::equal(region.memory.bytes().subspan(at, bytes),
					  line.region.memory.bytes().subspan(from, bytes));
	}

	TagEnd end;
	TagLine line;
	Region region;
};

TEST_F(Rendezvous, reads_the_payload)
{
	const uint32_t lengths[] = { 1, 0, 100, 1 << 20, (8 << 20) - 8192 };

	for (uint64_t i = 0; i < std::size(lengths); i++) {
		add(i, { region.sge(0, uint32_t(region.memory.size())) }, i);
		await(line, 9);
		send(line, i, 8192, lengths[i]);
		const TagWc match = end.cq.expect(i, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
		EXPECT_EQ(match.info.tag, i);
		EXPECT_EQ(match.byte_len, lengths[i]);
		expect_sent(line);
		expect_over(line, 9, i);
		const TagWc valid = end.cq.expect(i, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
		EXPECT_EQ(valid.byte_len, lengths[i]);
		EXPECT_EQ(valid.qp_num, line.to.get()->qp_num);
		EXPECT_TRUE(is_read(0, 8192, lengths[i])) << lengths[i];
	}
}

TEST_F(Rendezvous, reads_into_all_elements)
{
	add(5,
	    { region.sge(100, 10), region.sge(5000, 0), region.sge(200, 10), region.sge(300, 50) },
	    1);
	await(line, 9);
	send(line, 5, 8192, 25);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
	EXPECT_TRUE(is_read(100, 8192, 10) && is_read(200, 8202, 10) && is_read(300, 8212, 5));
	EXPECT_EQ(region.memory.data()[305], 0);
	expect_over(line, 9, 5);
}

/* What is behind the headers is for who has no buffer that matches. */
TEST_F(Rendezvous, leaves_out_what_is_behind_its_headers)
{
	add(5, { region.sge(0, 4096) }, 1);
	await(line, 9);
	send(line, 5, 8192, 64, 0, 90);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
	EXPECT_TRUE(is_read(0, 8192, 64));
	EXPECT_EQ(region.memory.data()[64], 0);
	ASSERT_EQ(end.srq.post({ region.sge(4096, 4096) }, 3), 0);
	send(line, 6, 8192, 64, 0, 90);
	EXPECT_EQ(end.cq.expect(3, IBV_WC_TM_RECV, 0).byte_len, 32u + 90);
}

TEST_F(Rendezvous, gives_its_headers_to_a_buffer_that_is_too_short)
{
	add(5, { region.sge(0, 63) }, 1);
	add(5, { region.sge(4096, 20) }, 2);
	send(line, 5, 8192, 64, 0, 10);
	EXPECT_EQ(end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, IBV_WC_TM_RNDV_INCOMPLETE)
			  .info.tag,
		  5u);
	expect_sent(line);
	EXPECT_TRUE(is_read(0, 0, 32));
	EXPECT_EQ(region.memory.data()[32], 0);
	send(line, 5, 8192, 64);
	end.cq.expect(2, IBV_WC_TM_RECV, IBV_WC_TM_MATCH, IBV_WC_TM_RNDV_INCOMPLETE);
	EXPECT_TRUE(is_read(4096, 0, 20));
	end.cq.expect_none();
	EXPECT_EQ(line.to.state(), IBV_QPS_RTS);
}

/* Whoever is told of the end has to listen; others go on meanwhile. */
TEST_F(Rendezvous, waits_until_it_is_listened_to)
{
	add(5, { region.sge(0, 4096) }, 1);
	add(6, { region.sge(4096, 4096) }, 2);
	add(7, { region.sge(8192, 4096) }, 3);
	send(line, 5, 8192, 64);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	expect_sent(line);
	end.cq.expect_none();
	EXPECT_TRUE(is_read(0, 8192, 64));
	/* The sender's own messages do not wait behind it. */
	line.send_eager(7, 10);
	end.cq.expect(3, IBV_WC_TM_RECV, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	expect_sent(line);
	/* The next one of this sender does, and that of another does not. */
	send(line, 6, 8192, 64);
	end.cq.expect(2, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	expect_sent(line);
	TagLine other(end);
	add(8, { region.sge(0, 4096) }, 4);
	await(other, 8);
	send(other, 8, 8192, 64);
	end.cq.expect(4, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	end.cq.expect(4, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
	await(line, 9);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
	await(line, 10);
	end.cq.expect(2, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
	expect(line.from.recv_cq, line.from.qp, 9);
	expect(line.from.recv_cq, line.from.qp, 10);
}

TEST_F(Rendezvous, of_many_at_once)
{
	constexpr uint64_t count = 40;
	uint64_t matches = 0, ends = 0;

	for (uint64_t i = 0; i < count; i++) {
		add(i, { region.sge(i * 4096, 4096) }, i);
		await(line, i);
	}
	for (uint64_t i = 0; i < count; i++) {
		const TagHeader header = rendezvous_header(i, line.region.address(i * 8192 + 8192),
							   line.region.mr.rkey(), 4000);

		std::memcpy(line.region.memory.data() + i * 64, &header, sizeof(header));
		ASSERT_EQ(post(line.from.qp,
			       { .sges = { line.region.sge(i * 64, sizeof(header)) }, .id = 1 }),
			  0);
	}
	while (ends < count) {
		const auto wc = end.cq.wait();

		ASSERT_TRUE(wc);
		ASSERT_EQ(wc->status, IBV_WC_SUCCESS);
		if (wc->flags & IBV_WC_TM_MATCH) {
			EXPECT_EQ(wc->wr_id, matches++);
		} else {
			EXPECT_EQ(wc->wr_id, ends) << "in their order";
			EXPECT_TRUE(is_read(ends * 4096, ends * 8192 + 8192, 4000));
			ends++;
		}
	}
	EXPECT_EQ(matches, count);
	for (uint64_t i = 0; i < count; i++)
		expect(line.from.recv_cq, line.from.qp, i);
}

TEST_F(Rendezvous, with_a_bad_rkey_ends_in_error)
{
	add(5, { region.sge(0, 4096) }, 1);
	add(5, { region.sge(4096, 4096) }, 2);
	send(line, 5, 8192, 64, line.region.mr.rkey() ^ 0x100);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	const TagWc wc = end.cq.expect(1, IBV_WC_TM_RECV, 0, IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(wc.vendor_err, uint32_t(BELLHOP_REASON_RKEY_UNKNOWN));
	EXPECT_TRUE(line.to.reaches(IBV_QPS_ERR));
	/* The queue goes on with others. */
	TagLine other(end);
	await(other, 9);
	send(other, 5, 8192, 64);
	end.cq.expect(2, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	end.cq.expect(2, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
}

class RendezvousWithoutReads : public Rendezvous
{
protected:
	RendezvousWithoutReads() : Rendezvous({}, { .max_rd_atomic = 0 }) {}
};

TEST_F(RendezvousWithoutReads, ends_in_error)
{
	add(5, { region.sge(0, 4096) }, 1);
	send(line, 5, 8192, 64);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	const TagWc wc = end.cq.expect(1, IBV_WC_TM_RECV, 0, IBV_WC_LOC_QP_OP_ERR);
	EXPECT_EQ(wc.vendor_err, uint32_t(BELLHOP_REASON_NO_RD_ATOMIC));
}

class RendezvousImpatient : public Rendezvous
{
protected:
	RendezvousImpatient() : Rendezvous({}, { .rnr_retry = 1 }) {}
};

TEST_F(RendezvousImpatient, gives_up_when_nobody_listens)
{
	add(5, { region.sge(0, 4096) }, 1);
	send(line, 5, 8192, 64);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	end.cq.expect(1, IBV_WC_TM_RECV, 0, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* Each buffer that was matched is told of, whatever becomes of the QP. */
TEST_F(Rendezvous, is_flushed)
{
	const std::function<void(TagLine &)> ways[] = {
		[](TagLine &gone) { EXPECT_EQ(gone.to.modify(to_state(IBV_QPS_ERR)), 0); },
		[](TagLine &gone) { EXPECT_EQ(gone.to.modify(to_state(IBV_QPS_RESET)), 0); },
		[](TagLine &gone) { EXPECT_EQ(gone.to.destroy(), 0); },
	};

	for (const auto &ends : ways) {
		TagLine passing(end);

		for (uint64_t id = 0; id < 3; id++) {
			add(5, { region.sge(0, 4096) }, id);
			send(passing, 5, 8192, 64);
			expect_sent(passing);
			end.cq.expect(id, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
		}
		ends(passing);
		for (uint64_t id = 0; id < 3; id++)
			end.cq.expect(id, IBV_WC_TM_RECV, 0, IBV_WC_WR_FLUSH_ERR);
	}
	end.cq.expect_none();
	/* All places are free again. */
	for (uint64_t i = 0; i < 64; i++)
		add(5, { region.sge(0, 64) }, i);
}

/* Nobody can be told that it is over: the QP ends, as with any other completion. */
TEST(RendezvousOverrun, ends_the_qp)
{
	const Device device;
	const Pd pd(device);
	const TagCq cq(device, 1);
	const Cq send_cq(device, 16);
	const TagSrq srq(pd, cq.get());
	const Endpoint from;
	const Qp to(device, pd.get(), send_cq, send_cq,
		    { .cap = { 0, 0, 0, 0, 0 }, .srq = srq.get() });
	Region here(pd, 4096), there(from.pd, 8192);
	const TagHeader header = rendezvous_header(5, there.address(4096), there.mr.rkey(), 64);

	to.connect(from.qp.address());
	from.qp.connect(to.address());
	std::memcpy(there.memory.data(), &header, sizeof(header));
	ASSERT_EQ(srq.post({ .flags = 0, .recv_id = 1, .sges = { here.sge(0, 64) }, .tag = 5 }), 0);
	/* The first completion fills the queue. */
	ASSERT_EQ(post_recv(from.qp, { there.sge(1024, 32) }, 9), 0);
	ASSERT_EQ(post(from.qp, { .sges = { there.sge(0, sizeof(header)) }, .id = 1 }), 0);
	EXPECT_TRUE(to.reaches(IBV_QPS_ERR));
}

/* A QP that is not to send yet keeps it until it is. */
TEST_F(Rendezvous, begins_when_the_qp_may_send)
{
	const Endpoint from;
	Qp to(end.device, end.pd.get(), end.send_cq, end.send_cq, end.shape());
	Region there(from.pd, 8192);
	const TagHeader header = rendezvous_header(5, there.address(4096), there.mr.rkey(), 64);

	from.qp.connect(to.address());
	ASSERT_EQ(to.modify(to_init()), 0);
	ASSERT_EQ(to.modify(to_rtr(from.qp.address())), 0);
	std::memcpy(there.memory.data(), &header, sizeof(header));
	fill(there.memory.bytes().subspan(4096), 7);
	add(5, { region.sge(0, 4096) }, 1);
	ASSERT_EQ(post_recv(from.qp, { there.sge(1024, 32) }, 9), 0);
	ASSERT_EQ(post(from.qp, { .sges = { there.sge(0, sizeof(header)) }, .id = 1 }), 0);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_MATCH);
	end.cq.expect_none();
	ASSERT_EQ(to.modify(to_rts()), 0);
	end.cq.expect(1, IBV_WC_TM_RECV, IBV_WC_TM_DATA_VALID);
	EXPECT_TRUE(std::ranges::equal(region.memory.bytes().first(64),
				       there.memory.bytes().subspan(4096, 64)));
}

/* What both send is for the other's buffers; who reads also sends. */
TEST_F(Rendezvous, goes_both_ways)
{
	TagEnd other;
	Qp here(end.device, end.pd.get(), end.send_cq, end.send_cq,
		{ .cap = { 16, 0, 2, 0, 64 }, .srq = end.srq.get() });
	Qp there(other.device, other.pd.get(), other.send_cq, other.send_cq,
		 { .cap = { 16, 0, 2, 0, 64 }, .srq = other.srq.get() });
	Region theirs(other.pd, 64 << 10);
	const struct {
		TagEnd &end;
		Qp &qp;
		Region &region;
	} ends[] = { { end, here, region }, { other, there, theirs } };

	here.connect(there.address());
	there.connect(here.address());
	fill(region.memory.bytes().first(64 << 10), 3);
	fill(theirs.memory.bytes(), 4);
	for (uint32_t i = 0; i < 2; i++) {
		const auto &[at, qp, memory] = ends[i];
		const TagHeader header =
			rendezvous_header(5, memory.address(4096), memory.mr.rkey(), 4096);

		ASSERT_EQ(at.srq.post({ .flags = IBV_OPS_TM_SYNC,
					.recv_id = 1,
					.sges = { memory.sge(16384, 4096) },
					.tag = 5 }),
			  0);
		ASSERT_EQ(at.srq.post({ memory.sge(8192, 64) }, 2), 0);
		std::memcpy(memory.memory.data(), &header, sizeof(header));
	}
	for (const auto &[at, qp, memory] : ends)
		ASSERT_EQ(post(qp, { .sges = { memory.sge(0, sizeof(TagHeader)) }, .id = 7 }), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const auto &[at, qp, memory] = ends[i];
		unsigned matches = 0, valid = 0, over = 0;

		for (int completions = 0; completions < 3; completions++) {
			const auto wc = at.cq.wait();

			ASSERT_TRUE(wc);
			ASSERT_EQ(wc->status, IBV_WC_SUCCESS);
			matches += wc->flags == IBV_WC_TM_MATCH && wc->wr_id == 1;
			valid += wc->flags == IBV_WC_TM_DATA_VALID && wc->wr_id == 1;
			over += wc->opcode == IBV_WC_TM_NO_TAG && wc->wr_id == 2;
		}
		EXPECT_EQ(matches, 1u);
		EXPECT_EQ(valid, 1u);
		EXPECT_EQ(over, 1u);
		expect(at.send_cq, qp, 7);
		EXPECT_TRUE(
			std::ranges::equal(memory.memory.bytes().subspan(16384, 4096),
					   ends[1 - i].region.memory.bytes().subspan(4096, 4096)));
	}
}

} // namespace

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
