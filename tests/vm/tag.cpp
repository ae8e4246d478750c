// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tag.cpp: shared receive queues that match the tags of messages.
#include <thread>
#include "ktap.hpp"
#include "srq.hpp"
#include "tag.hpp"

using namespace vm;

namespace
{

constexpr unsigned whole = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;

class Tags : public testing::Test
{
protected:
	Tags() : line(end), region(end.pd, 8 << 20)
	{
		fill(line.region.memory.bytes(), 1);
	}

	std::span<uint8_t> payload(size_t bytes) const
	{
		return line.region.memory.bytes().subspan(sizeof(ibv_tmh), bytes);
	}

	/* Adds a buffer, and sees it done. Returns its handle. */
	uint32_t add(uint64_t tag, std::vector<ibv_sge> sges, uint64_t id, uint64_t mask = ~0ull,
		     uint32_t unexpected = 0, unsigned flags = 0)
	{
		uint32_t handle = 0;

		EXPECT_EQ(end.srq.post({ .id = 1000 + id,
					 .unexpected = unexpected,
					 .recv_id = id,
					 .sges = sges,
					 .tag = tag,
					 .mask = mask },
				       &handle),
			  0);
		end.cq.expect(1000 + id, IBV_WC_TM_ADD, flags);
		return handle;
	}

	void remove(uint32_t handle, ibv_wc_status status = IBV_WC_SUCCESS)
	{
		EXPECT_EQ(end.srq.post({ .opcode = IBV_WR_TAG_DEL,
					 .flags = IBV_OPS_SIGNALED,
					 .id = 7,
					 .handle = handle }),
			  0);
		end.cq.expect(7, IBV_WC_TM_DEL, 0, status);
	}

	void sync(uint32_t unexpected, unsigned flags = 0)
	{
		EXPECT_EQ(end.srq.post(
				  { .opcode = IBV_WR_TAG_SYNC, .id = 8, .unexpected = unexpected }),
			  0);
		end.cq.expect(8, IBV_WC_TM_SYNC, flags);
	}

	void expect_sent(uint64_t id = 1)
	{
		expect(line.from.send_cq, line.from.qp, id);
	}

	TagEnd end;
	TagLine line;
	Region region;
};

} // namespace

TEST_F(Tags, are_what_the_device_says)
{
	ibv_device_attr_ex attr = {};

	ASSERT_EQ(ibv_query_device_ex(end.device.get(), nullptr, &attr), 0);
	EXPECT_EQ(attr.tm_caps.flags, unsigned(IBV_TM_CAP_RC));
	EXPECT_EQ(attr.tm_caps.max_num_tags, 1024u);
	EXPECT_EQ(attr.tm_caps.max_sge, 4u);
	EXPECT_GE(attr.tm_caps.max_rndv_hdr_size, sizeof(TagHeader));
	EXPECT_GT(attr.tm_caps.max_ops, 0u);
}

TEST_F(Tags, take_messages_to_their_buffers)
{
	add(5, { region.sge(0, 4096) }, 1);
	add(6, { region.sge(8192, 100), region.sge(4096, 100), region.sge(16384, 4096) }, 2);
	line.send_eager(6, 1000, 77);
	const TagWc wc = end.cq.expect(2, IBV_WC_TM_RECV, whole);
	EXPECT_EQ(wc.byte_len, 1000u);
	EXPECT_EQ(wc.info.tag, 6u);
	EXPECT_EQ(wc.info.priv, 77u);
	EXPECT_EQ(wc.qp_num, line.to.get()->qp_num);
	const auto got = region.memory.bytes();
	EXPECT_TRUE(std::ranges::equal(got.subspan(8192, 100), payload(1000).first(100)));
	EXPECT_TRUE(std::ranges::equal(got.subspan(4096, 100), payload(1000).subspan(100, 100)));
	EXPECT_TRUE(std::ranges::equal(got.subspan(16384, 800), payload(1000).last(800)));
	expect_sent();
	line.send_eager(5, 0);
	EXPECT_EQ(end.cq.expect(1, IBV_WC_TM_RECV, whole).byte_len, 0u);
	EXPECT_EQ(region.memory.data()[0], 0);
}

/* More than is moved at a time. */
TEST_F(Tags, take_long_messages)
{
	constexpr uint32_t length = (8 << 20) - 16;

	add(5, { region.sge(0, length / 2), region.sge(length / 2, length / 2) }, 1);
	line.send_eager(5, length);
	EXPECT_EQ(end.cq.expect(1, IBV_WC_TM_RECV, whole).byte_len, length);
	EXPECT_TRUE(std::ranges::equal(region.memory.bytes().first(length), payload(length)));
}

TEST_F(Tags, match_in_the_order_of_adding)
{
	add(0x500, { region.sge(0, 64) }, 1, 0xff00);
	add(0x512, { region.sge(64, 64) }, 2);
	add(0, { region.sge(128, 64) }, 3, 0);
	for (auto [tag, id] : { std::pair(0x512, 1), { 0x512, 2 }, { 0x512, 3 } }) {
		line.send_eager(uint64_t(tag), 10);
		EXPECT_EQ(end.cq.expect(uint64_t(id), IBV_WC_TM_RECV, whole).info.tag,
			  uint64_t(tag));
		expect_sent();
	}
}

TEST_F(Tags, leave_the_rest_to_the_queue)
{
	add(5, { region.sge(0, 4096) }, 1);
	ASSERT_EQ(end.srq.post({ region.sge(4096, 4096) }, 21), 0);
	ASSERT_EQ(end.srq.post({ region.sge(8192, 4096) }, 22), 0);
	line.send_eager(6, 100);
	EXPECT_EQ(end.cq.expect(21, IBV_WC_TM_RECV, 0).byte_len, 116u);
	EXPECT_TRUE(std::ranges::equal(region.memory.bytes().subspan(4096, 116),
				       line.region.memory.bytes().first(116)))
		<< "with its header";
	expect_sent();
	line.send(tag_header(IBV_TMH_NO_TAG, 5), 16);
	EXPECT_EQ(end.cq.expect(22, IBV_WC_TM_NO_TAG, 0).info.tag, 0u);
	expect_sent();
	/* Only the first of them counts. */
	sync(1);
	line.send_eager(5, 10);
	end.cq.expect(1, IBV_WC_TM_RECV, whole);
}

TEST_F(Tags, read_headers_that_are_cut_off_as_none)
{
	add(0, { region.sge(0, 4096) }, 1, 0);
	for (size_t length = 0; length < 16; length++) {
		ASSERT_EQ(end.srq.post({ region.sge(4096, 4096) }, length), 0);
		line.send(tag_header(IBV_TMH_EAGER, 5), length);
		EXPECT_EQ(end.cq.expect(length, IBV_WC_TM_NO_TAG, 0).byte_len, length);
		expect_sent();
	}
}

/* What was added before its owner heard of a message might be meant for that one. */
TEST_F(Tags, wait_for_their_owner)
{
	ASSERT_EQ(end.srq.post({ region.sge(0, 4096) }, 21), 0);
	ASSERT_EQ(end.srq.post({ region.sge(0, 4096) }, 22), 0);
	line.send_eager(5, 10);
	expect_sent();
	end.cq.expect(21, IBV_WC_TM_RECV, 0);
	add(5, { region.sge(4096, 4096) }, 1, ~0ull, 0, IBV_WC_TM_SYNC_REQ);
	line.send_eager(5, 10);
	expect_sent();
	end.cq.expect(22, IBV_WC_TM_RECV, IBV_WC_TM_SYNC_REQ);
	sync(1, IBV_WC_TM_SYNC_REQ);
	sync(2);
	line.send_eager(5, 10);
	end.cq.expect(1, IBV_WC_TM_RECV, whole);
}

/* A message that finds neither has not come. */
TEST_F(Tags, do_not_count_who_has_to_wait)
{
	line.send_eager(5, 10);
	usleep(20000);
	end.cq.expect_none();
	EXPECT_EQ(end.srq.post({ .flags = IBV_OPS_TM_SYNC,
				 .recv_id = 3,
				 .sges = { region.sge(0, 64) },
				 .tag = 5 }),
		  0);
	end.cq.expect(3, IBV_WC_TM_RECV, whole);
	expect_sent();
	sync(0);
	add(6, { region.sge(0, 64) }, 4);
	line.send_eager(6, 10);
	end.cq.expect(4, IBV_WC_TM_RECV, whole);
}

TEST_F(Tags, are_taken_out)
{
	const uint32_t first = add(5, { region.sge(0, 64) }, 1);
	const uint32_t second = add(5, { region.sge(64, 64) }, 2);

	EXPECT_NE(first, second);
	remove(first);
	remove(first, IBV_WC_TM_ERR);
	remove(0xffffffff, IBV_WC_TM_ERR);
	line.send_eager(5, 10);
	end.cq.expect(2, IBV_WC_TM_RECV, whole);
	remove(second, IBV_WC_TM_ERR);
	/* What fails completes anyway; what does not, only if it is asked for. */
	const uint32_t third = add(9, { region.sge(0, 64) }, 3);
	EXPECT_NE(third, first);
	EXPECT_EQ(end.srq.post({ .opcode = IBV_WR_TAG_DEL, .flags = 0, .id = 9, .handle = third }),
		  0);
	end.cq.expect_none();
	EXPECT_EQ(end.srq.post({ .opcode = IBV_WR_TAG_DEL, .flags = 0, .id = 9, .handle = third }),
		  0);
	end.cq.expect(9, IBV_WC_TM_DEL, 0, IBV_WC_TM_ERR);
}

TEST_F(Tags, are_as_many_as_were_asked_for)
{
	std::vector<uint32_t> handles;

	for (uint64_t i = 0; i < 64; i++)
		handles.push_back(add(i, { region.sge(0, 64) }, i));
	EXPECT_EQ(end.srq.post({ .sges = { region.sge(0, 64) } }), ENOMEM);
	end.cq.expect_none();
	remove(handles[30]);
	add(99, { region.sge(0, 64) }, 99);
	line.send_eager(99, 1);
	end.cq.expect(99, IBV_WC_TM_RECV, whole);
}

TEST_F(Tags, refuse_what_makes_no_sense)
{
	const std::vector<ibv_sge> five(5, region.sge(0, 8));
	const Srq plain(end.pd);
	ibv_ops_wr wr = {}, *bad = nullptr;

	EXPECT_EQ(end.srq.post({ .sges = five }), EINVAL);
	EXPECT_EQ(end.srq.post({ .opcode = ibv_ops_wr_opcode(3) }), EINVAL);
	EXPECT_EQ(end.srq.post({ .flags = 4 }), EINVAL);
	EXPECT_EQ(ibv_post_srq_ops(plain.get(), &wr, &bad), EINVAL);
	end.cq.expect_none();
	for (uint32_t tags : { 0u, 1025u })
		EXPECT_THROW(TagSrq(end.pd, end.cq.get(), tags), std::exception);
	EXPECT_NO_THROW(TagSrq(end.pd, end.cq.get(), 1024));
	/* Reads by itself, with keys of its own domain: nobody else's. */
	const Pd other(end.device);
	EXPECT_THROW(Qp(end.device, other.get(), end.send_cq, end.send_cq, end.shape()),
		     std::exception);
	QpShape shape = end.shape();
	for (ibv_qp_type type : { IBV_QPT_UC, IBV_QPT_UD }) {
		shape.type = type;
		EXPECT_THROW(Qp(end.device, end.pd.get(), end.send_cq, end.send_cq, shape),
			     std::exception);
	}
	ibv_cq_init_attr_ex attr = {};
	attr.cqe = 16;
	attr.wc_flags = IBV_WC_EX_WITH_TM_INFO | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	EXPECT_EQ(ibv_create_cq_ex(end.device.get(), &attr), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
	attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	ibv_cq_ex *stamped = ibv_create_cq_ex(end.device.get(), &attr);
	ASSERT_TRUE(stamped);
	EXPECT_THROW(TagSrq(end.pd, ibv_cq_ex_to_cq(stamped)), std::exception);
	ibv_destroy_cq(ibv_cq_ex_to_cq(stamped));
}

TEST_F(Tags, of_messages_that_are_too_long)
{
	add(5, { region.sge(0, 99) }, 1);
	add(6, { region.sge(0, 99) }, 2);
	line.send_eager(5, 100);
	const TagWc wc = end.cq.expect(1, IBV_WC_TM_RECV, 0, IBV_WC_LOC_LEN_ERR);
	EXPECT_EQ(wc.vendor_err, uint32_t(BELLHOP_REASON_RECV_TOO_SHORT));
	expect(line.from.send_cq, line.from.qp, 1, IBV_WC_REM_INV_REQ_ERR);
	EXPECT_TRUE(line.to.reaches(IBV_QPS_ERR));
	/* The queue goes on with others. */
	TagLine another(end);
	another.send_eager(6, 99);
	end.cq.expect(2, IBV_WC_TM_RECV, whole);
}

/* Its owner could not know that it was one of those which count. */
TEST_F(Tags, do_not_count_what_fails)
{
	ASSERT_EQ(end.srq.post({ region.sge(0, 64) }, 21), 0);
	line.send_eager(5, 100);
	EXPECT_EQ(end.cq.expect(21, IBV_WC_RECV, 0, IBV_WC_LOC_LEN_ERR).vendor_err,
		  uint32_t(BELLHOP_REASON_RECV_TOO_SHORT));
	add(5, { region.sge(0, 64) }, 1);
	TagLine another(end);
	another.send_eager(5, 10);
	end.cq.expect(1, IBV_WC_TM_RECV, whole);
}

TEST_F(Tags, of_buffers_with_bad_keys)
{
	ibv_sge wrong = region.sge(0, 64);

	wrong.lkey ^= 0x100;
	add(5, { wrong }, 1);
	line.send_eager(5, 10);
	const TagWc wc = end.cq.expect(1, IBV_WC_TM_RECV, 0, IBV_WC_LOC_PROT_ERR);
	EXPECT_EQ(wc.vendor_err, uint32_t(BELLHOP_REASON_LKEY_UNKNOWN));
	expect(line.from.send_cq, line.from.qp, 1, IBV_WC_REM_OP_ERR);
}

/* The sender's own fault is not the buffer's. */
TEST_F(Tags, stay_when_a_message_cannot_be_sent)
{
	ibv_sge wrong = line.region.sge(0, 64);

	wrong.lkey ^= 0x100;
	add(5, { region.sge(0, 64) }, 1);
	ASSERT_EQ(post(line.from.qp, { .sges = { wrong }, .id = 3 }), 0);
	expect(line.from.send_cq, line.from.qp, 3, IBV_WC_LOC_PROT_ERR);
	TagLine another(end);
	const TagHeader header = tag_header(IBV_TMH_EAGER, 5);
	std::memcpy(another.region.memory.data(), &header, 16);
	/* The header can be read, and what follows cannot. */
	ASSERT_EQ(post(another.from.qp, { .sges = { another.region.sge(0, 16), wrong }, .id = 4 }),
		  0);
	expect(another.from.send_cq, another.from.qp, 4, IBV_WC_LOC_PROT_ERR);
	end.cq.expect_none();
	TagLine third(end);
	third.send_eager(5, 10);
	end.cq.expect(1, IBV_WC_TM_RECV, whole);
}

TEST_F(Tags, are_shared_by_many)
{
	TagLine other(end);
	uint64_t id = 0;

	for (TagLine *from : { &line, &other, &other, &line }) {
		add(5, { region.sge(0, 64) }, ++id);
		from->send_eager(5, 20);
		EXPECT_EQ(end.cq.expect(id, IBV_WC_TM_RECV, whole).qp_num, from->to.get()->qp_num);
	}
}

/* Its completions are the queue's, not the QP's. */
TEST_F(Tags, outlive_the_qp)
{
	{
		TagLine passing(end);

		add(5, { region.sge(0, 64) }, 1);
		passing.send_eager(5, 20);
		expect(passing.from.send_cq, passing.from.qp, 1);
	}
	end.cq.expect(1, IBV_WC_TM_RECV, whole);
}

/* A sender that goes on writing does not have one thing decided and another delivered. */
TEST_F(Tags, are_delivered_as_they_were_looked_at)
{
	volatile uint8_t &op = line.region.memory.data()[0];
	unsigned tagged = 0, others = 0;
	op = IBV_TMH_NO_TAG;
	std::jthread writer([&op](const std::stop_token &end) {
		for (unsigned i = 0; !end.stop_requested(); i++)
			op = i % 2 ? IBV_TMH_EAGER : IBV_TMH_NO_TAG;
	});

	for (const Deadline limit(patience); !limit.passed() && (tagged < 200 || others < 200);) {
		ASSERT_EQ(end.srq.post({ region.sge(0, 64) }, 1), 0);
		ASSERT_EQ(post(line.from.qp, { .sges = { line.region.sge(0, 40) }, .id = 1 }), 0);
		expect_sent();
		const auto wc = end.cq.wait();
		ASSERT_TRUE(wc);
		const bool is_tagged = wc->opcode == IBV_WC_TM_RECV;
		EXPECT_EQ(region.memory.data()[0],
			  is_tagged ? int(IBV_TMH_EAGER) : int(IBV_TMH_NO_TAG));
		++(is_tagged ? tagged : others);
	}
	EXPECT_GE(tagged, 200u);
	EXPECT_GE(others, 200u);
}

/* Who is not connected to the QP says nothing about the next message. */
TEST_F(Tags, are_not_matched_by_strangers)
{
	const Endpoint stranger;
	Region theirs(stranger.pd, 4096);
	const TagHeader header = tag_header(IBV_TMH_EAGER, 5);

	add(5, { region.sge(0, 64) }, 1);
	ASSERT_EQ(end.srq.post({ region.sge(4096, 64) }, 2), 0);
	stranger.qp.connect(line.to.address(), { .timeout = 8, .retry_cnt = 0 });
	std::memcpy(theirs.memory.data(), &header, sizeof(header));
	ASSERT_EQ(post(stranger.qp, { .sges = { theirs.sge(0, 20) }, .id = 3 }), 0);
	expect(stranger.send_cq, stranger.qp, 3, IBV_WC_RETRY_EXC_ERR);
	ASSERT_EQ(post(line.from.qp, { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				       .sges = { line.region.sge(0, 8) },
				       .remote = region.address(8192),
				       .rkey = region.mr.rkey(),
				       .id = 4 }),
		  0);
	expect(line.from.send_cq, line.from.qp, 4);
	end.cq.expect(2, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM);
	line.send_eager(5, 10);
	end.cq.expect(1, IBV_WC_TM_RECV, whole);
	sync(0);
}

TEST(TagEvents, are_raised)
{
	const Device device;
	const Pd pd(device);
	const Channel channel(device);
	const TagCq cq(device, 64, &channel);
	const TagSrq srq(pd, cq.get());

	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	EXPECT_EQ(srq.post({ .opcode = IBV_WR_TAG_SYNC, .id = 3 }), 0);
	EXPECT_EQ(channel.next_event(), cq.get());
	ibv_ack_cq_events(cq.get(), 1);
	cq.expect(3, IBV_WC_TM_SYNC, 0);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
