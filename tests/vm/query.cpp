// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// query.cpp: what the device says of itself, and that it keeps to its limits.
#include <memory>
#include <set>
#include "endpoint.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

class Query : public testing::Test
{
protected:
	Query()
	{
		require(!ibv_query_device(device.get(), &limits), "ibv_query_device");
	}

	/** A QP of @cap, or NULL and errno. */
	ibv_qp *create_qp(const ibv_qp_cap &cap)
	{
		ibv_qp_init_attr attr = {};

		attr.send_cq = attr.recv_cq = cq.get();
		attr.qp_type = IBV_QPT_RC;
		attr.cap = cap;
		return ibv_create_qp(pd.get(), &attr);
	}

	void expect_no_qp(const ibv_qp_cap &cap, const char *what)
	{
		errno = 0;
		ibv_qp *qp = create_qp(cap);
		EXPECT_EQ(qp, nullptr) << what;
		EXPECT_EQ(errno, EINVAL) << what;
		if (qp)
			ibv_destroy_qp(qp);
	}

	Device device;
	Pd pd{ device };
	Cq cq{ device, 16 };
	ibv_device_attr limits;
};

TEST_F(Query, device)
{
	EXPECT_EQ(limits.phys_port_cnt, 1);
	EXPECT_NE(limits.node_guid, 0u);
	EXPECT_GE(limits.max_qp, 16384);
	EXPECT_GE(limits.max_qp_wr, 16384);
	EXPECT_GE(limits.max_cqe, 1 << 20);
	EXPECT_GE(limits.max_cq, 16384);
	EXPECT_GE(limits.max_mr, 16384);
	EXPECT_GE(limits.max_pd, 16384);
	EXPECT_GE(limits.max_mw, 16384);
	EXPECT_TRUE(limits.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	EXPECT_TRUE(limits.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	EXPECT_FALSE(limits.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A);
	EXPECT_EQ(limits.max_sge, 32);
	EXPECT_GE(limits.max_sge_rd, 1);
	EXPECT_EQ(limits.max_qp_rd_atom, 128);
	EXPECT_EQ(limits.max_qp_init_rd_atom, 128);
	EXPECT_EQ(limits.max_pkeys, 1);
	EXPECT_GE(limits.max_mcast_grp, 1024);
	EXPECT_GE(limits.max_mcast_qp_attach, 64);
	EXPECT_GE(limits.max_total_mcast_qp_attach, limits.max_mcast_grp);
	EXPECT_GE(limits.max_mr_size, 1ull << 40);
	EXPECT_TRUE(limits.page_size_cap & sysconf(_SC_PAGESIZE));

	ibv_device_attr_ex more;
	ASSERT_EQ(ibv_query_device_ex(device.get(), nullptr, &more), 0);
	EXPECT_EQ(more.orig_attr.max_qp, limits.max_qp);
	EXPECT_GE(device.get()->num_comp_vectors, 1);
}

TEST_F(Query, port)
{
	ibv_port_attr port;

	ASSERT_EQ(ibv_query_port(device.get(), 1, &port), 0);
	EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
	EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	EXPECT_EQ(port.max_mtu, IBV_MTU_4096);
	EXPECT_GE(port.active_mtu, IBV_MTU_256);
	EXPECT_LE(port.active_mtu, port.max_mtu);
	EXPECT_GE(port.gid_tbl_len, 32);
	EXPECT_EQ(port.pkey_tbl_len, 1);
	EXPECT_EQ(port.max_msg_sz, 1u << 31);
	EXPECT_NE(port.active_speed, 0);
	EXPECT_NE(port.active_width, 0);
	EXPECT_NE(ibv_query_port(device.get(), 0, &port), 0);
	EXPECT_NE(ibv_query_port(device.get(), 2, &port), 0);
}

TEST_F(Query, gid)
{
	static const ibv_gid none = {};
	ibv_port_attr port;
	ibv_gid_entry entry;
	ibv_gid gid;

	ASSERT_EQ(ibv_query_gid(device.get(), 1, 0, &gid), 0);
	EXPECT_NE(std::memcmp(&gid, &none, sizeof(gid)), 0);
	ASSERT_EQ(ibv_query_gid_ex(device.get(), 1, 0, &entry, 0), 0);
	EXPECT_EQ(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
	EXPECT_NE(entry.ndev_ifindex, 0u);
	ASSERT_EQ(ibv_query_port(device.get(), 1, &port), 0);
	EXPECT_NE(ibv_query_gid(device.get(), 1, port.gid_tbl_len, &gid), 0);
}

TEST_F(Query, pkey)
{
	__be16 pkey;

	ASSERT_EQ(ibv_query_pkey(device.get(), 1, 0, &pkey), 0);
	EXPECT_EQ(pkey, 0xffff);
	EXPECT_NE(ibv_query_pkey(device.get(), 1, 1, &pkey), 0);
}

TEST_F(Query, qp_limits_are_kept)
{
	const uint32_t wr = limits.max_qp_wr, sge = limits.max_sge;

	ibv_qp *qp = create_qp({ wr, wr, sge, sge, 512 });
	ASSERT_NE(qp, nullptr) << std::strerror(errno);
	ibv_destroy_qp(qp);
	expect_no_qp({ wr + 1, 1, 1, 1, 0 }, "max_send_wr");
	expect_no_qp({ 1, wr + 1, 1, 1, 0 }, "max_recv_wr");
	expect_no_qp({ 1, 1, sge + 1, 1, 0 }, "max_send_sge");
	expect_no_qp({ 1, 1, 1, sge + 1, 0 }, "max_recv_sge");
	expect_no_qp({ 1, 1, 1, 1, 1 << 20 }, "max_inline_data");
	expect_no_qp({ ~0u, 1, 1, 1, 0 }, "max_send_wr");
	expect_no_qp({ 1, ~0u, 1, 1, 0 }, "max_recv_wr");
}

TEST_F(Query, cq_limits_are_kept)
{
	const auto refused = [this](int entries, int vector) {
		errno = 0;
		ibv_cq *bad = ibv_create_cq(device.get(), entries, nullptr, nullptr, vector);
		EXPECT_EQ(bad, nullptr) << entries << " entries, vector " << vector;
		EXPECT_EQ(errno, EINVAL) << entries << " entries, vector " << vector;
		if (bad)
			ibv_destroy_cq(bad);
	};

	Cq million(device, 1 << 20);
	EXPECT_GE(million.get()->cqe, 1 << 20);
	refused(0, 0);
	refused(-1, 0);
	refused(limits.max_cqe + 1, 0);
	refused(16, device.get()->num_comp_vectors);
}

TEST_F(Query, a_queue_without_entries_takes_none)
{
	ibv_qp *none = create_qp({ 0, 0, 0, 0, 0 });
	ASSERT_NE(none, nullptr) << std::strerror(errno);
	ibv_recv_wr recv = {}, *bad_recv;
	EXPECT_NE(ibv_post_recv(none, &recv, &bad_recv), 0);
	ibv_send_wr send = {}, *bad_send;
	EXPECT_NE(ibv_post_send(none, &send, &bad_send), 0);
	ibv_destroy_qp(none);
}

TEST_F(Query, two_thousand_qps_on_one_cq)
{
	constexpr size_t count = 2000;
	Cq shared(device, 2 * count);
	std::vector<std::unique_ptr<Qp>> qps;
	std::set<uint32_t> numbers;

	while (qps.size() < count) {
		qps.push_back(std::make_unique<Qp>(device, pd.get(), shared, shared,
						   QpShape{ .cap = { 4, 4, 1, 1, 0 } }));
		numbers.insert(qps.back()->get()->qp_num);
	}
	EXPECT_EQ(numbers.size(), count) << "numbers repeat";
	/* In pairs, from the ends to the middle; then each sends once. */
	for (size_t i = 0; i < count; i++)
		qps[i]->connect(qps[count - 1 - i]->address());
	for (size_t i = 0; i < count; i++) {
		ASSERT_EQ(post_recv(*qps[count - 1 - i], {}, count + i), 0);
		ASSERT_EQ(post(*qps[i], { .id = i }), 0);
	}
	std::set<uint64_t> done;
	for (size_t i = 0; i < 2 * count; i++) {
		ibv_wc wc = shared.next();

		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_TRUE(done.insert(wc.wr_id).second) << wc.wr_id << " twice";
		const size_t own = wc.wr_id < count ? wc.wr_id : 2 * count - 1 - wc.wr_id;
		EXPECT_EQ(wc.qp_num, qps[own]->get()->qp_num);
	}
	EXPECT_EQ(done.size(), 2 * count);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
