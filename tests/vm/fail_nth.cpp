// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// fail_nth.cpp: every verb with each of its allocations failing, one at a time: it is refused and
// leaves nothing, or it works.
#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include "sweep.hpp"
#include "trials.hpp"

using namespace vm;

/* One of each allocator, and a copy: what is proven by this is that faults are met at all. */
TEST_F(FaultTest, meets_what_the_kernel_allocates)
{
	const Fault fault;
	Memory memory(4096);
	unsigned char resident;
	utsname name;
	const auto failing = [&](const std::function<int()> &call) {
		fault.arm(1);
		errno = 0;
		const int result = call();
		const int error = errno;
		return fault.disarm() == 0 && result < 0 ? error : 0;
	};

	EXPECT_EQ(failing([] { return eventfd(0, 0); }), ENOMEM);
	EXPECT_EQ(failing([&] { return mincore(memory.data(), 4096, &resident); }), EAGAIN);
	EXPECT_EQ(failing([&] { return uname(&name); }), EFAULT);
	EXPECT_EQ(uname(&name), 0);
}

/* Verbs of the device itself. */
class FailNthDevice : public FaultTest
{
protected:
	FailNthDevice() : list_(ibv_get_device_list(nullptr))
	{
		for (ibv_device **one = list_; one && *one; one++)
			if (device_name() == ibv_get_device_name(*one))
				device_ = *one;
		require(device_, device_name() + " is not there");
	}

	~FailNthDevice() override
	{
		ibv_free_device_list(list_);
	}

	int open()
	{
		context_ = ibv_open_device(device_);
		return context_ ? 0 : errno;
	}

	ibv_device **list_;
	ibv_device *device_ = nullptr;
	ibv_context *context_ = nullptr;
};

TEST_F(FailNthDevice, opened)
{
	sweep("open_device", { .call = [&] { return open(); },
			       .check =
				       [&] {
					       ibv_pd *pd = ibv_alloc_pd(context_);

					       ASSERT_TRUE(pd);
					       EXPECT_EQ(ibv_dealloc_pd(pd), 0);
				       },
			       .undo = [&] { EXPECT_EQ(ibv_close_device(context_), 0); },
			       /* When it cannot open the file, the library looks for another. */
			       .also = ENOENT });
}

TEST_F(FailNthDevice, closed)
{
	sweep("close_device", { .prepare = [&] { ASSERT_EQ(open(), 0); },
				.call = [&] { return ibv_close_device(context_); } });
}

TEST_F(FailNthDevice, queried)
{
	ibv_device_attr device;
	ibv_device_attr_ex extended;
	ibv_port_attr port;
	ibv_gid gid;
	__be16 pkey;

	ASSERT_EQ(open(), 0);
	sweep("query_device", { .prepare = [&] { device = {}; },
				.call = [&] { return ibv_query_device(context_, &device); },
				.check = [&] { EXPECT_GT(device.max_qp, 0); } });
	sweep("query_device_ex",
	      { .prepare = [&] { extended = {}; },
		.call = [&] { return ibv_query_device_ex(context_, nullptr, &extended); },
		.check = [&] { EXPECT_GT(extended.orig_attr.max_qp, 0); } });
	sweep("query_port", { .prepare = [&] { port = {}; },
			      .call = [&] { return ibv_query_port(context_, 1, &port); },
			      .check = [&] { EXPECT_EQ(port.state, IBV_PORT_ACTIVE); } });
	sweep("query_gid",
	      { .prepare = [&] { gid = {}; },
		.call = [&] { return ibv_query_gid(context_, 1, 0, &gid) ? errno : 0; },
		.check = [&] { EXPECT_NE(gid.global.interface_id, 0u); } });
	sweep("query_pkey",
	      { .prepare = [&] { pkey = 0; },
		.call = [&] { return ibv_query_pkey(context_, 1, 0, &pkey) ? errno : 0; },
		.check = [&] { EXPECT_EQ(pkey, htons(0xffff)); } });
	EXPECT_EQ(ibv_close_device(context_), 0);
}

/* Verbs that make and change objects, which are then used. */
class FailNthObject : public FaultTest, protected Loopback
{
protected:
	/* One transition: @before takes a QP that is reset there. */
	void sweep_modify(const std::string &verb, const std::function<void()> &before,
			  const Change &change)
	{
		sweep("modify_qp, " + verb,
		      changing(*this, before, change, [&] { expect_works(); }));
	}
};

TEST_F(FailNthObject, pd)
{
	ibv_pd *one = nullptr;
	const auto alloc = [&] { return (one = ibv_alloc_pd(device.get())) ? 0 : errno; };
	const auto dealloc = [&] { return ibv_dealloc_pd(one); };

	sweep("alloc_pd", { .call = alloc,
			    .check =
				    [&] {
					    ibv_mr *mr = ibv_reg_mr(one, region.memory.data(), 4096,
								    access_all);

					    ASSERT_TRUE(mr);
					    EXPECT_EQ(ibv_dereg_mr(mr), 0);
				    },
			    .undo = [&] { EXPECT_EQ(dealloc(), 0); } });
	sweep("dealloc_pd", { .prepare = [&] { ASSERT_EQ(alloc(), 0); }, .call = dealloc });
}

TEST_F(FailNthObject, channel_of_completions)
{
	ibv_comp_channel *one = nullptr;
	const auto create = [&] {
		return (one = ibv_create_comp_channel(device.get())) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_comp_channel(one); };

	sweep("create_comp_channel", { .call = create, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	sweep("destroy_comp_channel",
	      { .prepare = [&] { ASSERT_EQ(create(), 0); }, .call = destroy });
}

TEST_F(FailNthObject, cq)
{
	for (ibv_comp_channel *with : { static_cast<ibv_comp_channel *>(nullptr), channel.get() }) {
		const std::string kind = with ? ", with a channel" : "";
		ibv_cq *one = nullptr;
		const auto create = [&] {
			return (one = ibv_create_cq(device.get(), 300, nullptr, with, 0)) ? 0
											  : errno;
		};
		const auto destroy = [&] { return ibv_destroy_cq(one); };

		sweep("create_cq" + kind, { .call = create,
					    .check =
						    [&] {
							    ibv_wc wc;

							    EXPECT_EQ(ibv_poll_cq(one, 1, &wc), 0);
							    EXPECT_EQ(ibv_req_notify_cq(one, 0), 0);
						    },
					    .undo = [&] { EXPECT_EQ(destroy(), 0); } });
		sweep("destroy_cq" + kind, destroying(
						   "cq", [&] { ASSERT_EQ(create(), 0); }, destroy));
	}
}

TEST_F(FailNthObject, cq_resized)
{
	ibv_cq *one = nullptr;

	sweep("resize_cq", { .prepare =
				     [&] {
					     one = ibv_create_cq(device.get(), 300, nullptr,
								 channel.get(), 0);
					     ASSERT_TRUE(one);
				     },
			     .call = [&] { return ibv_resize_cq(one, 2000); },
			     .refused = [&] { EXPECT_LT(one->cqe, 2000); },
			     .check =
				     [&] {
					     ibv_wc wc;

					     EXPECT_GE(one->cqe, 2000);
					     EXPECT_EQ(ibv_poll_cq(one, 1, &wc), 0);
				     },
			     .undo = [&] { EXPECT_EQ(ibv_destroy_cq(one), 0); } });
}

TEST_F(FailNthObject, qp)
{
	sweep("create_qp", { .call = [&] { return create_qp(); },
			     .check =
				     [&] {
					     connect();
					     expect_works();
				     },
			     .undo = [&] { destroy_qp(); } });
	sweep("destroy_qp", destroying(
				    "qp",
				    [&] {
					    ASSERT_EQ(create_qp(), 0);
					    connect();
					    expect_works();
				    },
				    [&] { return ibv_destroy_qp(qp); }));
}

TEST_F(FailNthObject, srq)
{
	ibv_srq *one = nullptr;
	const auto create = [&] {
		ibv_srq_init_attr attr = {};

		attr.attr = { 300, 4, 0 };
		return (one = ibv_create_srq(pd.get(), &attr)) ? 0 : errno;
	};
	const auto destroy = [&] { return ibv_destroy_srq(one); };
	const auto post = [&] {
		ibv_recv_wr wr = {}, *bad;

		EXPECT_EQ(ibv_post_srq_recv(one, &wr, &bad), 0);
	};

	sweep("create_srq",
	      { .call = create, .check = post, .undo = [&] { EXPECT_EQ(destroy(), 0); } });
	sweep("destroy_srq", destroying(
				     "srq", [&] { ASSERT_EQ(create(), 0); }, destroy));
	ASSERT_EQ(create(), 0);
	sweep("modify_srq", { .call = [&] {
		      ibv_srq_attr attr = { 0, 0, 7 };

		      return ibv_modify_srq(one, &attr, IBV_SRQ_LIMIT);
	      } });
	sweep("modify_srq, resized", { .call = [&] {
		      ibv_srq_attr attr = { 500, 0, 0 };

		      return ibv_modify_srq(one, &attr, IBV_SRQ_MAX_WR);
	      } });
	post();
	sweep("query_srq", { .call = [&] {
		      ibv_srq_attr attr;

		      return ibv_query_srq(one, &attr);
	      } });
	EXPECT_EQ(destroy(), 0);
}

TEST_F(FailNthObject, qp_and_its_states)
{
	Change notify = to_state(IBV_QPS_SQD);
	const auto init = [&] { ASSERT_EQ(modify(to_init()), 0); };
	const auto rtr = [&] {
		init();
		ASSERT_EQ(modify(to_rtr(self())), 0);
	};
	const auto rts = [&] { connect(); };
	const auto sqd = [&] {
		connect();
		ASSERT_EQ(modify(to_state(IBV_QPS_SQD)), 0);
	};

	notify.attr.en_sqd_async_notify = 1;
	notify.mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
	ASSERT_EQ(create_qp(), 0);
	sweep_modify(
		"RESET to INIT", [] {}, to_init());
	sweep_modify("INIT to RTR", init, to_rtr(self()));
	sweep_modify("RTR to RTS", rtr, to_rts());
	sweep_modify("RTS to SQD", rts, to_state(IBV_QPS_SQD));
	sweep_modify("RTS to SQD with an event", rts, notify);
	sweep_modify("SQD to RTS", sqd, to_state(IBV_QPS_RTS));
	sweep_modify("RTS to ERR", rts, to_state(IBV_QPS_ERR));
	sweep_modify("RTS to RESET", rts, to_state(IBV_QPS_RESET));
	sweep("query_qp", { .call = [&] {
		      ibv_qp_init_attr init_attr = {};
		      ibv_qp_attr attr = {};
		      const int error = ibv_query_qp(qp, &attr, IBV_QP_CAP, &init_attr);

		      EXPECT_TRUE(error || attr.cap.max_send_wr >= 16);
		      return error;
	      } });
	destroy_qp();
}

/* What is mapped by hand, beside the library. */
TEST_F(FailNthObject, mapping_of_a_ring)
{
	std::unique_ptr<Cq> one;
	const std::vector<Mapping> maps =
		new_mappings([&] { one = std::make_unique<Cq>(device, 1000); });
	void *start = nullptr;
	const auto map = [&] {
		start = mmap(nullptr, maps[0].length, PROT_READ | PROT_WRITE, MAP_SHARED,
			     device.get()->cmd_fd, maps[0].offset);
		return start == MAP_FAILED ? errno : 0;
	};
	const auto unmap = [&] { return munmap(start, maps[0].length) ? errno : 0; };

	ASSERT_EQ(maps.size(), 1u);
	sweep("mmap of a ring",
	      { .call = map,
		.check = [&] { EXPECT_EQ(std::memcmp(start, maps[0].start, maps[0].length), 0); },
		.undo = [&] { EXPECT_EQ(unmap(), 0); } });
	sweep("munmap of a ring", { .prepare = [&] { ASSERT_EQ(map(), 0); }, .call = unmap });
}

/* The command may be refused, or tell too little of the one QP that there is; not more than that.
 */
TEST_F(FailNthObject, resources_shown)
{
	std::unique_ptr<Netlink> netlink;
	std::vector<uint8_t> request =
		rdma_message(RDMA_NLDEV_CMD_RES_QP_GET, NLM_F_DUMP)
			.put(RDMA_NLDEV_ATTR_DEV_INDEX, rdma_index(device_name()).value())
			.bytes();
	const auto open = [&] { netlink = std::make_unique<Netlink>(NETLINK_RDMA); };

	ASSERT_EQ(create_qp(), 0);
	open();
	sweep("rdma resource show qp", { .prepare = [&] {},
					 .call = [&] { return netlink->send(request); },
					 .settle =
						 [&](int error, bool) {
							 error = error ? error : netlink->answer();
							 /* What is left of it does not disturb the
							  * next. */
							 open();
							 return error;
						 } });
	destroy_qp();
}

int main(int argc, char **argv)
{
	return run_sweeps(argc, argv);
}
