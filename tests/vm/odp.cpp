// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// odp.cpp: regions of pages on demand: every operation finds pages that nobody has touched, and
// what the process does to them meanwhile is seen. odp_traffic.cpp does it during requests.
#include <sys/wait.h>
#include "datagram.hpp"
#include "demand.hpp"
#include "ktap.hpp"
#include "rereg.hpp"
#include "srq.hpp"
#include "window.hpp"

using namespace vm;

static constexpr uint32_t length = 64 << 10;

/* a asks, b answers; the pages of both are on demand, and not there yet. */
class OnDemand : public testing::Test
{
protected:
	Send request(ibv_wr_opcode opcode, size_t offset = 0, uint32_t bytes = length) const
	{
		return { .opcode = opcode,
			 .sges = { a.sge(offset, bytes) },
			 .remote = b.address(offset),
			 .rkey = b.mr.rkey(),
			 .id = 1 };
	}

	void expect_done(const Send &send)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect(pair.a.send_cq, pair.a.qp, send.id);
	}

	/* Afterwards the pair works again. */
	void expect_refused(const Send &send, ibv_wc_status status, bellhop_reason reason)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, send.id, status), reason);
		pair.reconnect();
	}

	void expect_written(uint64_t seed)
	{
		fill(a.memory.bytes(), seed);
		expect_done(request(IBV_WR_RDMA_WRITE));
		EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
	}

	void expect_read(uint64_t seed)
	{
		fill(b.memory.bytes(), seed);
		expect_done(request(IBV_WR_RDMA_READ));
		EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
	}

	Pair pair{ {}, { .access = access_on_demand } };
	DemandRegion a{ pair.a.pd, length }, b{ pair.b.pd, length };
};

TEST_F(OnDemand, is_what_the_device_says_it_can)
{
	const uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
			    IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
			    IBV_ODP_SUPPORT_SRQ_RECV;
	ibv_device_attr_ex attr = {};

	ASSERT_EQ(ibv_query_device_ex(pair.a.device.get(), nullptr, &attr), 0);
	EXPECT_EQ(attr.odp_caps.general_caps,
		  static_cast<uint64_t>(IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT));
	EXPECT_EQ(attr.odp_caps.per_transport_caps.rc_odp_caps, rc);
	EXPECT_EQ(attr.odp_caps.per_transport_caps.uc_odp_caps,
		  rc & ~static_cast<uint32_t>(IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC));
	EXPECT_EQ(attr.odp_caps.per_transport_caps.ud_odp_caps,
		  static_cast<uint32_t>(IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
					IBV_ODP_SUPPORT_SRQ_RECV));
}

/* Untouched pages are zero, and so is what is sent of them. */
TEST_F(OnDemand, write_of_untouched_pages)
{
	std::memset(b.memory.data(), 0xff, length);
	expect_done(request(IBV_WR_RDMA_WRITE));
	for (uint8_t byte : b.memory.bytes())
		ASSERT_EQ(byte, 0);
}

TEST_F(OnDemand, write_to_untouched_pages)
{
	expect_written(1);
	expect_written(2);
}

TEST_F(OnDemand, read_to_untouched_pages)
{
	expect_read(1);
	expect_read(2);
}

TEST_F(OnDemand, write_with_imm_to_untouched_pages)
{
	ASSERT_EQ(post_recv(pair.b.qp, {}, 2), 0);
	fill(a.memory.bytes(), 1);
	expect_done(request(IBV_WR_RDMA_WRITE_WITH_IMM));
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 2).byte_len, length);
	EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
}

TEST_F(OnDemand, send_to_untouched_pages_in_pieces)
{
	const uint32_t third = 5000;

	ASSERT_EQ(
		post_recv(pair.b.qp, { b.sge(100, third), b.sge(20000, third), b.sge(7000, 9) }, 2),
		0);
	fill(a.memory.bytes(), 1);
	expect_done({ .sges = { a.sge(4090, third), a.sge(0, third), a.sge(30000, 9) }, .id = 1 });
	EXPECT_EQ(expect(pair.b.recv_cq, pair.b.qp, 2).byte_len, 2 * third + 9);
	EXPECT_EQ(std::memcmp(a.memory.data() + 4090, b.memory.data() + 100, third), 0);
	EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data() + 20000, third), 0);
	EXPECT_EQ(std::memcmp(a.memory.data() + 30000, b.memory.data() + 7000, 9), 0);
}

TEST_F(OnDemand, atomics)
{
	Send add = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 4096, 8);
	uint64_t word, found;

	add.compare_add = 5;
	for (uint64_t before = 0; before < 50; before += 5) {
		expect_done(add);
		std::memcpy(&word, b.memory.data() + 4096, 8);
		std::memcpy(&found, a.memory.data() + 4096, 8);
		EXPECT_EQ(word, before + 5);
		EXPECT_EQ(found, before);
	}
	/* The result goes across two pages, neither of which is there. */
	add.sges = { a.sge(3 * page - 3, 8) };
	expect_done(add);
	std::memcpy(&found, a.memory.data() + 3 * page - 3, 8);
	EXPECT_EQ(found, 50u);
	std::memcpy(&word, b.memory.data() + 4096, 8);
	EXPECT_EQ(word, 55u) << "executed once";
}

TEST_F(OnDemand, messages_of_many_pages)
{
	const uint32_t size = 16 << 20;
	DemandRegion from(pair.a.pd, size), to(pair.b.pd, size);

	fill(from.memory.bytes(), 1);
	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
				    .sges = { from.sge(0, size) },
				    .remote = to.address(),
				    .rkey = to.mr.rkey(),
				    .id = 1 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(std::memcmp(from.memory.data(), to.memory.data(), size), 0);
}

TEST_F(OnDemand, huge_pages_may_be_asked_for)
{
	DemandRegion region(pair.b.pd, length, access_on_demand | IBV_ACCESS_HUGETLB);

	fill(a.memory.bytes(), 1);
	Send send = request(IBV_WR_RDMA_WRITE);
	send.remote = region.address();
	send.rkey = region.mr.rkey();
	expect_done(send);
	EXPECT_EQ(std::memcmp(a.memory.data(), region.memory.data(), length), 0);
}

/* Not even those that were moved. */
TEST_F(OnDemand, nothing_is_pinned)
{
	const size_t much = 1ul << 30;
	const long pinned = status_kb("VmPin"), resident = status_kb("VmRSS");
	DemandRegion large(pair.b.pd, much);

	EXPECT_EQ(status_kb("VmPin"), pinned);
	EXPECT_LT(status_kb("VmRSS"), resident + 1024);
	expect_written(1);
	EXPECT_EQ(status_kb("VmPin"), pinned);
}

TEST_F(OnDemand, other_pages_at_the_same_address)
{
	expect_written(1);
	map_anew(b.memory.data(), length);
	expect_written(2);
	map_anew(a.memory.data(), length);
	std::memset(b.memory.data(), 0xff, length);
	expect_done(request(IBV_WR_RDMA_WRITE));
	for (uint8_t byte : b.memory.bytes())
		ASSERT_EQ(byte, 0) << "of pages that are not there any more";
}

TEST_F(OnDemand, pages_that_were_thrown_away)
{
	expect_written(1);
	ASSERT_EQ(madvise(b.memory.data(), length, MADV_DONTNEED), 0);
	expect_done(request(IBV_WR_RDMA_READ));
	for (uint8_t byte : a.memory.bytes())
		ASSERT_EQ(byte, 0);
	expect_written(2);
}

TEST_F(OnDemand, unmapped_at_the_responder)
{
	expect_written(1);
	ASSERT_EQ(munmap(b.memory.data() + page, page), 0);
	expect_refused(request(IBV_WR_RDMA_WRITE), IBV_WC_REM_ACCESS_ERR,
		       BELLHOP_REASON_RKEY_ABSENT);
	expect_refused(request(IBV_WR_RDMA_READ), IBV_WC_REM_ACCESS_ERR,
		       BELLHOP_REASON_RKEY_ABSENT);
	/* The rest is as good as before, and so is the page when there is one again. */
	expect_done(request(IBV_WR_RDMA_WRITE, 2 * page, page));
	map_anew(b.memory.data() + page, page);
	expect_written(2);
}

TEST_F(OnDemand, unmapped_at_the_requester)
{
	expect_written(1);
	ASSERT_EQ(munmap(a.memory.data() + page, page), 0);
	expect_refused(request(IBV_WR_RDMA_WRITE), IBV_WC_LOC_PROT_ERR, BELLHOP_REASON_LKEY_ABSENT);
	map_anew(a.memory.data() + page, page);
	expect_written(2);
}

TEST_F(OnDemand, unmapped_at_the_receiver)
{
	ASSERT_EQ(munmap(b.memory.data() + page, page), 0);
	ASSERT_EQ(post_recv(pair.b.qp, { b.sge(0, length) }, 2), 0);
	ASSERT_EQ(post(pair.a.qp, request(IBV_WR_SEND)), 0);
	expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_OP_ERR);
	expect_reason(expect(pair.b.recv_cq, pair.b.qp, 2, IBV_WC_LOC_PROT_ERR),
		      BELLHOP_REASON_LKEY_ABSENT);
	map_anew(b.memory.data() + page, page);
}

TEST_F(OnDemand, read_only_pages)
{
	expect_written(1);
	ASSERT_EQ(mprotect(b.memory.data(), length, PROT_READ), 0);
	expect_done(request(IBV_WR_RDMA_READ));
	expect_refused(request(IBV_WR_RDMA_WRITE), IBV_WC_REM_ACCESS_ERR,
		       BELLHOP_REASON_RKEY_ABSENT);
	ASSERT_EQ(mprotect(b.memory.data(), length, PROT_READ | PROT_WRITE), 0);
	expect_written(2);
}

/* Pages that can be written are not those that a child has, and a child's are not written. */
TEST_F(OnDemand, fork_leaves_the_parent_its_pages)
{
	int to_child[2], to_parent[2];
	char go = 1;

	expect_written(1);
	ASSERT_EQ(pipe(to_child) | pipe(to_parent), 0);
	const pid_t pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		if (read(to_child[0], &go, 1) != 1)
			_exit(2);
		_exit(is_filled(b.memory.bytes(), 1) ? 0 : 1);
	}
	expect_written(2);
	expect_read(3);
	expect_written(4);
	EXPECT_EQ(write(to_child[1], &go, 1), 1);
	int status = -1;
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	for (int fd : { to_child[0], to_child[1], to_parent[0], to_parent[1] })
		close(fd);
}

TEST_F(OnDemand, a_file_that_is_mapped)
{
	const int file = memfd_create("odp", 0);
	std::vector<uint8_t> content(length);

	ASSERT_GE(file, 0);
	ASSERT_EQ(ftruncate(file, length), 0);
	ASSERT_EQ(mmap(b.memory.data(), length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		       file, 0),
		  b.memory.data());
	expect_written(1);
	ASSERT_EQ(pread(file, content.data(), length, 0), static_cast<ssize_t>(length));
	EXPECT_EQ(std::memcmp(a.memory.data(), content.data(), length), 0);

	ASSERT_EQ(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, length), 0);
	expect_done(request(IBV_WR_RDMA_READ));
	for (uint8_t byte : a.memory.bytes())
		ASSERT_EQ(byte, 0) << "of a page that the file does not have any more";
	/* Beyond the end of a file there is nothing. */
	ASSERT_EQ(ftruncate(file, page), 0);
	expect_refused(request(IBV_WR_RDMA_WRITE), IBV_WC_REM_ACCESS_ERR,
		       BELLHOP_REASON_RKEY_ABSENT);
	ASSERT_EQ(ftruncate(file, length), 0);
	expect_written(2);
	close(file);
}

/* The registration says nothing of what is mapped there. */
TEST_F(OnDemand, registered_before_it_is_mapped)
{
	ASSERT_EQ(munmap(b.memory.data(), length), 0);
	Mr mr(pair.b.pd, b.memory.data(), length, access_on_demand);
	map_anew(b.memory.data(), length);
	Send send = request(IBV_WR_RDMA_WRITE);
	send.rkey = mr.rkey();
	fill(a.memory.bytes(), 1);
	expect_done(send);
	EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), length), 0);
}

TEST_F(OnDemand, the_whole_address_space)
{
	Mr all_a(pair.a.pd, nullptr, SIZE_MAX, access_on_demand);
	Mr all_b(pair.b.pd, nullptr, SIZE_MAX, access_on_demand);
	Memory from(length), to(length);

	for (int round = 0; round < 3; round++) {
		fill(from.bytes(), static_cast<uint64_t>(round));
		expect_done({ .opcode = IBV_WR_RDMA_WRITE,
			      .sges = { { reinterpret_cast<uintptr_t>(from.data()), length,
					  all_a.lkey() } },
			      .remote = reinterpret_cast<uintptr_t>(to.data()),
			      .rkey = all_b.rkey(),
			      .id = 1 });
		EXPECT_EQ(std::memcmp(from.data(), to.data(), length), 0);
		map_anew(to.data(), length);
	}
	/* There is no page at 0, and none of the kernel's. */
	for (uint64_t address : { uint64_t(0), uint64_t(1) << 63, ~uint64_t(0) - page }) {
		Send send = request(IBV_WR_RDMA_READ, 0, 8);
		send.remote = address;
		send.rkey = all_b.rkey();
		expect_refused(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_ABSENT);
	}
}

TEST_F(OnDemand, access_is_what_was_asked_for)
{
	Mr mr(pair.b.pd, b.memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	Send send = request(IBV_WR_RDMA_READ);

	send.rkey = mr.rkey();
	expect_refused(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_ACCESS);
	send = request(IBV_WR_RDMA_READ);
	send.remote += page;
	expect_refused(send, IBV_WC_REM_ACCESS_ERR, BELLHOP_REASON_RKEY_RANGE);
}

TEST_F(OnDemand, ranges_that_cannot_be)
{
	errno = 0;
	EXPECT_FALSE(ibv_reg_mr(pair.a.pd.get(), reinterpret_cast<void *>(~uintptr_t(0) - 100),
				page, access_on_demand));
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_FALSE(ibv_reg_mr(pair.a.pd.get(), reinterpret_cast<void *>(page), SIZE_MAX,
				access_on_demand));
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_FALSE(ibv_reg_mr(pair.a.pd.get(), a.memory.data(), 0, access_on_demand));
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_FALSE(ibv_reg_mr(pair.a.pd.get(), a.memory.data(), length,
				access_all | IBV_ACCESS_HUGETLB));
	EXPECT_EQ(errno, EOPNOTSUPP) << "without demand";
}

TEST_F(OnDemand, becomes_pinned_and_comes_back)
{
	ibv_mr *mr = b.mr.get();
	const long pinned = status_kb("VmPin");
	Memory other(length);

	expect_written(1);
	ASSERT_EQ(rereg(mr, { .flags = access_flags, .access = access_all }), 0);
	EXPECT_EQ(status_kb("VmPin"), pinned + static_cast<long>(length >> 10));
	expect_written(2);
	ASSERT_EQ(rereg(mr, { .flags = access_flags, .access = access_on_demand }), 0);
	EXPECT_EQ(status_kb("VmPin"), pinned);
	map_anew(b.memory.data(), length);
	expect_written(3);
	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &other }), 0);
	Send send = request(IBV_WR_RDMA_WRITE);
	send.remote = reinterpret_cast<uintptr_t>(other.data());
	send.rkey = mr->rkey;
	expect_done(send);
	EXPECT_EQ(std::memcmp(a.memory.data(), other.data(), length), 0);
}

TEST_F(OnDemand, behind_a_window)
{
	Mr mr(pair.b.pd, b.memory, access_bindable | IBV_ACCESS_ON_DEMAND);
	Window window(pair.b.pd, IBV_MW_TYPE_1);

	ASSERT_EQ(bind(pair.b.qp, window, { mr.get(), b.address(page), page }, 3), 0);
	expect(pair.b.send_cq, pair.b.qp, 3);
	for (uint64_t round = 1; round < 4; round++) {
		Send send = request(IBV_WR_RDMA_WRITE, page, page);

		send.rkey = window.rkey();
		fill(a.memory.bytes(), round);
		expect_done(send);
		EXPECT_EQ(std::memcmp(a.memory.data() + page, b.memory.data() + page, page), 0);
		map_anew(b.memory.data(), length);
	}
	ASSERT_EQ(window.deallocate(), 0);
}

TEST(OnDemandQueues, shared_receives)
{
	Device device;
	Pd pd(device);
	Srq srq(pd);
	Cq cq(device, 64);
	Qp one(device, pd.get(), cq, cq), other(device, pd.get(), cq, cq, { .srq = srq.get() });
	DemandRegion from(pd, length), to(pd, length);

	one.connect(other.address());
	other.connect(one.address());
	fill(from.memory.bytes(), 1);
	ASSERT_EQ(srq.post({ to.sge(0, length) }, 2), 0);
	ASSERT_EQ(post(one, { .sges = { from.sge(0, length) }, .id = 1 }), 0);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(cq.next().status, IBV_WC_SUCCESS);
	EXPECT_EQ(std::memcmp(from.memory.data(), to.memory.data(), length), 0);
}

TEST(OnDemandQueues, datagrams)
{
	constexpr uint32_t bytes = 1024, key = 0x1234;
	Station a(key), b(key);
	DemandRegion from(a.pd, length), to(b.pd, length);

	for (size_t at = 0; at < length; at += 16 << 10) {
		const Send send = { .sges = { from.sge(at, bytes) },
				    .id = 1,
				    .ah = a.ah.get(),
				    .qpn = b.qp.get()->qp_num,
				    .qkey = b.qkey };

		ASSERT_EQ(post_recv(b.qp, { to.sge(at, grh_bytes + bytes) }, 2), 0);
		ASSERT_EQ(post(a.qp, send), 0);
		expect(a.send_cq, a.qp, 1);
		EXPECT_EQ(expect(b.recv_cq, b.qp, 2).byte_len, grh_bytes + bytes);
		EXPECT_EQ(std::memcmp(from.memory.data() + at, to.memory.data() + at + grh_bytes,
				      bytes),
			  0);
	}
	/* Its own fault ends a sender's queue; of a receiver's, the sender hears nothing. */
	ASSERT_EQ(munmap(to.memory.data(), page), 0);
	ASSERT_EQ(post_recv(b.qp, { to.sge(0, 2048) }, 3), 0);
	ASSERT_EQ(post(a.qp, { .sges = { from.sge(0, bytes) },
			       .id = 4,
			       .ah = a.ah.get(),
			       .qpn = b.qp.get()->qp_num,
			       .qkey = b.qkey }),
		  0);
	expect(a.send_cq, a.qp, 4);
	expect_reason(expect(b.recv_cq, b.qp, 3, IBV_WC_LOC_PROT_ERR), BELLHOP_REASON_LKEY_ABSENT);
	map_anew(to.memory.data(), page);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
