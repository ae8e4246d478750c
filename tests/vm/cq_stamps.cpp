// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// cq_stamps.cpp: completions that say when they were, by the device's clock and by the time of day;
// which fields of completions there are; and moderation of events.
#include <ctime>
#include "datagram.hpp"
#include "ktap.hpp"

using namespace vm;

static constexpr uint64_t stamps =
	IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

static uint64_t time_of_day()
{
	timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/** The device's clock, in its ticks. */
static uint64_t device_clock(const Device &device)
{
	ibv_values_ex values = {};

	values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	require(!ibv_query_rt_values_ex(device.get(), &values), "ibv_query_rt_values_ex");
	EXPECT_TRUE(values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK);
	return values.raw_clock.tv_sec * 1000000000ull + values.raw_clock.tv_nsec;
}

static ibv_cq_ex *create(const Device &device, uint64_t fields)
{
	ibv_cq_init_attr_ex attr = {};

	attr.cqe = 64;
	attr.wc_flags = fields;
	errno = 0;
	return ibv_create_cq_ex(device.get(), &attr);
}

/** A CQ whose completions are stamped, and a QP that writes to itself. */
class CqStamps : public testing::TestWithParam<uint64_t>
{
protected:
	CqStamps()
	{
		qp.connect(qp.address());
	}

	int write(uint64_t id, uint32_t lkey_error = 0)
	{
		ibv_sge sge = region.sge(0, 8);

		sge.lkey ^= lkey_error;
		return post(qp, { .opcode = IBV_WR_RDMA_WRITE,
				  .sges = { sge },
				  .remote = region.address(8),
				  .rkey = region.mr.rkey(),
				  .id = id });
	}

	/** The times between which a completion lies that is written from now on. */
	struct Span {
		uint64_t ticks, wall;
	};
	Span now() const
	{
		return { device_clock(device), time_of_day() };
	}

	/** The next completion is of @id, and was between @before and now. */
	void expect_next(uint64_t id, const Span &before, ibv_wc_status status = IBV_WC_SUCCESS)
	{
		ibv_poll_cq_attr attr = {};
		const Span after = now();

		ASSERT_EQ(ibv_start_poll(ex, &attr), 0);
		EXPECT_EQ(ex->wr_id, id);
		EXPECT_EQ(ex->status, status);
		if (GetParam() & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) {
			EXPECT_GE(ibv_wc_read_completion_ts(ex), before.ticks);
			EXPECT_LE(ibv_wc_read_completion_ts(ex), after.ticks);
		}
		if (GetParam() & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) {
			EXPECT_GE(ibv_wc_read_completion_wallclock_ns(ex), before.wall);
			EXPECT_LE(ibv_wc_read_completion_wallclock_ns(ex), after.wall);
		}
		ibv_end_poll(ex);
	}

	Device device;
	Pd pd{ device };
	Region region{ pd, 4096 };
	ibv_cq_ex *ex = create(device, GetParam() | IBV_WC_EX_WITH_QP_NUM);
	Cq cq{ ex ? ibv_cq_ex_to_cq(ex) : nullptr };
	Qp qp{ device, pd.get(), cq, cq };
};

INSTANTIATE_TEST_SUITE_P(Fields, CqStamps,
			 testing::Values(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
					 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, stamps));

TEST_P(CqStamps, say_when_it_was)
{
	for (uint64_t id = 0; id < 200; id++) {
		const Span before = now();

		ASSERT_EQ(write(id), 0);
		expect_next(id, before);
		if (HasFailure())
			return;
	}
}

TEST_P(CqStamps, are_those_of_the_completion_and_not_of_the_poll)
{
	const Span before = now();

	ASSERT_EQ(write(1), 0);
	const Span after = now();
	usleep(20000);
	ibv_poll_cq_attr attr = {};
	ASSERT_EQ(ibv_start_poll(ex, &attr), 0);
	if (GetParam() & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) {
		EXPECT_GE(ibv_wc_read_completion_ts(ex), before.ticks);
		EXPECT_LE(ibv_wc_read_completion_ts(ex), after.ticks);
	} else {
		EXPECT_LE(ibv_wc_read_completion_wallclock_ns(ex), after.wall);
	}
	ibv_end_poll(ex);
}

TEST_P(CqStamps, never_run_backwards)
{
	ibv_poll_cq_attr attr = {};
	uint64_t last = 0;

	for (uint64_t id = 0; id < 60; id++)
		ASSERT_EQ(write(id), 0);
	ASSERT_EQ(ibv_start_poll(ex, &attr), 0);
	for (uint64_t id = 0; id < 60; id++) {
		const uint64_t time = GetParam() & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
					      ? ibv_wc_read_completion_ts(ex)
					      : ibv_wc_read_completion_wallclock_ns(ex);

		EXPECT_GE(time, last);
		last = time;
		EXPECT_EQ(ibv_next_poll(ex), id == 59 ? ENOENT : 0);
	}
	ibv_end_poll(ex);
}

TEST_P(CqStamps, failures_have_them_too)
{
	const Span before = now();

	ASSERT_EQ(write(1, 0x100), 0);
	ASSERT_EQ(write(2), 0);
	expect_next(1, before, IBV_WC_LOC_PROT_ERR);
	expect_next(2, before, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(CqStamps, go_on_when_the_queue_is_resized)
{
	const Span before = now();

	ASSERT_EQ(write(1), 0);
	ASSERT_EQ(ibv_resize_cq(cq.get(), 256), 0);
	ASSERT_EQ(write(2), 0);
	expect_next(1, before);
	expect_next(2, before);
}

/* Who does not look at them polls as ever. */
TEST_P(CqStamps, disturb_nobody)
{
	for (uint64_t id = 0; id < 300; id++) {
		ASSERT_EQ(write(id), 0);
		expect(cq, qp, id);
	}
}

TEST(Clock, is_described)
{
	Device device;
	ibv_device_attr_ex attr;

	ASSERT_EQ(ibv_query_device_ex(device.get(), nullptr, &attr), 0);
	EXPECT_EQ(attr.completion_timestamp_mask, ~0ull);
	EXPECT_EQ(attr.hca_core_clock, 1000000u);
	EXPECT_EQ(attr.cq_mod_caps.max_cq_count, 4096);
	EXPECT_EQ(attr.cq_mod_caps.max_cq_period, 4096);
}

/* hca_core_clock is in kHz. */
TEST(Clock, runs_as_fast_as_it_says)
{
	Device device;
	ibv_device_attr_ex attr;

	ASSERT_EQ(ibv_query_device_ex(device.get(), nullptr, &attr), 0);
	const uint64_t ticks = device_clock(device), wall = time_of_day();
	usleep(300000);
	const double elapsed_ms = (time_of_day() - wall) / 1e6;
	const double ticked_ms = static_cast<double>(device_clock(device) - ticks) /
				 static_cast<double>(attr.hca_core_clock);

	EXPECT_GT(ticked_ms, elapsed_ms * 0.8);
	EXPECT_LT(ticked_ms, elapsed_ms * 1.2);
}

TEST(Clock, is_the_same_for_all)
{
	Device a, b;
	uint64_t last = 0;

	for (int i = 0; i < 100; i++) {
		const uint64_t time = device_clock(i % 2 ? a : b);

		EXPECT_GE(time, last);
		last = time;
	}
}

TEST(Clock, is_not_asked_for_what_there_is_not)
{
	Device device;
	ibv_values_ex values = {};

	EXPECT_EQ(ibv_query_rt_values_ex(device.get(), &values), 0);
	EXPECT_EQ(values.comp_mask, 0u);
	values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK << 1;
	EXPECT_NE(ibv_query_rt_values_ex(device.get(), &values), 0);
}

TEST(Fields, that_there_are_can_be_asked_for)
{
	Device device;

	for (uint64_t field = 1; field <= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	     field <<= 1) {
		const bool offered = field & (uint64_t{ IBV_WC_STANDARD_FLAGS } | stamps |
					      IBV_WC_EX_WITH_TM_INFO);
		ibv_cq_ex *ex = create(device, field);

		EXPECT_EQ(ex != nullptr, offered) << "field " << field;
		if (!offered)
			EXPECT_EQ(errno, EOPNOTSUPP) << "field " << field;
		if (ex)
			EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
	}
	EXPECT_EQ(create(device, uint64_t{ IBV_WC_STANDARD_FLAGS } | stamps | IBV_WC_EX_WITH_CVLAN),
		  nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST(Fields, an_overrun_cannot_be_ignored)
{
	Device device;
	ibv_cq_init_attr_ex attr = {};

	attr.cqe = 16;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	errno = 0;
	EXPECT_EQ(ibv_create_cq_ex(device.get(), &attr), nullptr);
	EXPECT_EQ(errno, EOPNOTSUPP);
}

/* All fields of a datagram, of which more than of others mean something. */
TEST(Fields, of_a_datagram)
{
	constexpr uint32_t qkey = 0x11111111;
	Station sender(qkey);
	Device device;
	Pd pd(device);
	Region region(pd, 4096);
	ibv_cq_ex *ex = create(device, uint64_t{ IBV_WC_STANDARD_FLAGS } | stamps);

	ASSERT_TRUE(ex);
	Cq cq(ibv_cq_ex_to_cq(ex));
	Qp qp(device, pd.get(), cq, cq, { .type = IBV_QPT_UD });
	ASSERT_EQ(qp.open(qkey), 0);
	ASSERT_EQ(post_recv(qp, { region.sge(0, 4096) }, 5), 0);
	const uint64_t before = device_clock(device);
	ASSERT_EQ(post(sender.qp, { .opcode = IBV_WR_SEND_WITH_IMM,
				    .sges = { sender.region.sge(0, 100) },
				    .imm = 0x12345678,
				    .id = 1,
				    .ah = sender.ah.get(),
				    .qpn = qp.get()->qp_num,
				    .qkey = qkey }),
		  0);
	expect(sender.send_cq, sender.qp, 1);
	ibv_poll_cq_attr attr = {};
	ASSERT_EQ(ibv_start_poll(ex, &attr), 0);
	EXPECT_EQ(ex->wr_id, 5u);
	EXPECT_EQ(ibv_wc_read_byte_len(ex), grh_bytes + 100);
	EXPECT_EQ(ibv_wc_read_imm_data(ex), 0x12345678u);
	EXPECT_EQ(ibv_wc_read_qp_num(ex), qp.get()->qp_num);
	EXPECT_EQ(ibv_wc_read_src_qp(ex), sender.qp.get()->qp_num);
	EXPECT_EQ(ibv_wc_read_wc_flags(ex), unsigned(IBV_WC_GRH | IBV_WC_WITH_IMM));
	EXPECT_EQ(ibv_wc_read_slid(ex), 0u);
	EXPECT_EQ(ibv_wc_read_dlid_path_bits(ex), 0);
	EXPECT_GE(ibv_wc_read_completion_ts(ex), before);
	EXPECT_LE(ibv_wc_read_completion_ts(ex), device_clock(device));
	ibv_end_poll(ex);
}

TEST(Moderation, is_accepted_within_its_limits)
{
	Device device;
	Channel channel(device);
	Pd pd(device);
	Region region(pd, 4096);
	Cq cq(device, 16, &channel);
	Qp qp(device, pd.get(), cq, cq);
	const auto modify = [&](uint16_t count, uint16_t period, uint32_t mask) {
		ibv_modify_cq_attr attr = {
			.attr_mask = mask, .moderate = { .cq_count = count, .cq_period = period }
		};

		return ibv_modify_cq(cq.get(), &attr);
	};

	qp.connect(qp.address());
	EXPECT_EQ(modify(0, 0, IBV_CQ_ATTR_MODERATE), 0);
	EXPECT_EQ(modify(4096, 4096, IBV_CQ_ATTR_MODERATE), 0);
	EXPECT_EQ(modify(4097, 1, IBV_CQ_ATTR_MODERATE), EINVAL);
	EXPECT_EQ(modify(1, 4097, IBV_CQ_ATTR_MODERATE), EINVAL);
	EXPECT_EQ(modify(0xffff, 0xffff, IBV_CQ_ATTR_MODERATE), EINVAL);
	EXPECT_EQ(modify(1, 1, 0), EINVAL);
	EXPECT_EQ(modify(1, 1, IBV_CQ_ATTR_RESERVED), EINVAL);
	/* However it is set, whoever sleeps is woken in time. */
	ASSERT_EQ(modify(64, 1000, IBV_CQ_ATTR_MODERATE), 0);
	ASSERT_EQ(ibv_req_notify_cq(cq.get(), 0), 0);
	ASSERT_EQ(post(qp, { .opcode = IBV_WR_RDMA_WRITE,
			     .sges = { region.sge(0, 8) },
			     .remote = region.address(8),
			     .rkey = region.mr.rkey(),
			     .id = 1 }),
		  0);
	EXPECT_EQ(channel.next_event(1), cq.get());
	ibv_ack_cq_events(cq.get(), 1);
	expect(cq, qp, 1);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
