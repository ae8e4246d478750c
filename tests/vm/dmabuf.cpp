// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// dmabuf.cpp: regions of memory that another driver exports: every operation on both ends, what may
// be registered of it, and how long it stays.
#include "endpoint.hpp"
#include "exporter.hpp"
#include "ktap.hpp"
#include "request.hpp"

using namespace vm;

/* The system's heap makes it of pieces of 256 pages, of 16, and of one. */
static constexpr uint32_t size = (256 + 16 + 1) * 4096;

/* Returns NULL and sets errno. */
static ibv_mr *reg_dmabuf_mr(const Pd &pd, uint64_t offset, size_t length, uint64_t iova, int fd,
			     int access = access_all)
{
	return ibv_reg_dmabuf_mr(pd.get(), offset, length, iova, fd, access);
}

/* An exporter of the kernel's; named by it. */
struct Exporter {
	const char *name;
	int (*make)(size_t length, bool writable);
	bool is_mapped = true; /* into the kernel, in each release that has it */
};

static constexpr Exporter exporters[] = {
	{ "system_heap", exporter::heap },
	{ "vgem", exporter::vgem },
	/* 6.1's offers no mapping. */
	{ "udmabuf", exporter::memfd, false },
};

class Exported : public testing::TestWithParam<Exporter>
{
protected:
	void SetUp() override
	{
		if (buffer.fd() < 0)
			GTEST_SKIP() << "the kernel has no " << GetParam().name;
		ibv_mr *mr = reg_dmabuf_mr(pair.b.pd, 0, size, 0, buffer.fd());
		if (!mr && errno == EOPNOTSUPP && !GetParam().is_mapped)
			GTEST_SKIP() << GetParam().name << " offers the kernel no mapping";
		ASSERT_TRUE(mr) << std::strerror(errno);
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
		fill(a.memory.bytes(), 1);
	}

	/* Expects @error, or success for 0. */
	void expect_result(int error, uint64_t offset, size_t length, uint64_t iova = 0,
			   int access = access_all)
	{
		errno = 0;
		ibv_mr *mr = reg_dmabuf_mr(pair.b.pd, offset, length, iova, buffer.fd(), access);

		EXPECT_EQ(mr ? 0 : errno, error) << offset << "+" << length << ": "
						 << (mr ? "registered" : std::strerror(errno));
		if (mr)
			EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}

	Send request(ibv_wr_opcode opcode, uint64_t remote, uint32_t bytes, const Mr &mr) const
	{
		Send send = { .opcode = opcode,
			      .sges = { a.sge(0, bytes) },
			      .remote = remote,
			      .rkey = mr.rkey(),
			      .id = 1 };
		send.compare_add = 1;
		return send;
	}

	void expect_done(const Send &send)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
	}

	void expect_refused(const Send &send, bellhop_reason reason)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_ACCESS_ERR), reason);
		pair.reconnect();
	}

	Pair pair;
	Region a{ pair.a.pd, size };
	DmaBuf buffer{ GetParam().make(size, true), size };
};

TEST_P(Exported, is_written_and_read)
{
	constexpr uint64_t iova = 0x7000'0000'0000 + 100, offset = 4096 + 100;
	constexpr uint32_t bytes = 9001;
	Mr mr(reg_dmabuf_mr(pair.b.pd, offset, size - offset, iova, buffer.fd()));
	std::vector<uint8_t> expected(buffer.bytes().begin(), buffer.bytes().end());

	expect_done(request(IBV_WR_RDMA_WRITE, iova + 5, bytes, mr));
	std::memcpy(&expected[offset + 5], a.memory.data(), bytes);
	EXPECT_EQ(std::memcmp(buffer.bytes().data(), expected.data(), size), 0);

	fill(buffer.bytes(), 2);
	expect_done(request(IBV_WR_RDMA_READ, iova + 3000, bytes, mr));
	EXPECT_EQ(std::memcmp(a.memory.data(), &buffer.bytes()[offset + 3000], bytes), 0);
}

TEST_P(Exported, is_a_local_side_too)
{
	Mr mr(reg_dmabuf_mr(pair.b.pd, 0, size, 0, buffer.fd()));

	ASSERT_EQ(post_recv(pair.b.qp, { { 7, 5000, mr.lkey() } }, 2), 0);
	expect_done({ .opcode = IBV_WR_SEND, .sges = { a.sge(0, 5000) }, .id = 1 });
	expect(pair.b.recv_cq, pair.b.qp, 2);
	EXPECT_EQ(std::memcmp(&buffer.bytes()[7], a.memory.data(), 5000), 0);

	fill(buffer.bytes(), 3);
	ASSERT_EQ(post(pair.b.qp, { .opcode = IBV_WR_RDMA_WRITE,
				    .sges = { { 100, size - 100, mr.lkey() } },
				    .remote = a.address(),
				    .rkey = a.mr.rkey(),
				    .id = 3 }),
		  0);
	expect(pair.b.send_cq, pair.b.qp, 3);
	EXPECT_EQ(std::memcmp(&buffer.bytes()[100], a.memory.data(), size - 100), 0);
}

TEST_P(Exported, is_changed_by_atomics)
{
	Mr mr(reg_dmabuf_mr(pair.b.pd, 0, size, 0, buffer.fd()));
	auto *word = reinterpret_cast<uint64_t *>(&buffer.bytes()[4096]);

	*word = 41;
	expect_done(request(IBV_WR_ATOMIC_FETCH_AND_ADD, 4096, 8, mr));
	EXPECT_EQ(*word, 42u);
	Send swap = request(IBV_WR_ATOMIC_CMP_AND_SWP, 4096, 8, mr);
	swap.compare_add = 42;
	swap.swap = 7;
	expect_done(swap);
	EXPECT_EQ(*word, 7u);
}

TEST_P(Exported, is_bounded_by_its_region)
{
	Mr mr(reg_dmabuf_mr(pair.b.pd, 4096, 4096, 0, buffer.fd()));

	expect_refused(request(IBV_WR_RDMA_WRITE, 4096, 1, mr), BELLHOP_REASON_RKEY_RANGE);
	expect_refused(request(IBV_WR_RDMA_READ, 4000, 97, mr), BELLHOP_REASON_RKEY_RANGE);
	Mr silent(reg_dmabuf_mr(pair.b.pd, 0, 4096, 0, buffer.fd(), 0));
	expect_refused(request(IBV_WR_RDMA_READ, 0, 8, silent), BELLHOP_REASON_RKEY_ACCESS);
	Pd other(pair.b.device);
	Mr foreign(reg_dmabuf_mr(other, 0, 4096, 0, buffer.fd()));
	expect_refused(request(IBV_WR_RDMA_READ, 0, 8, foreign), BELLHOP_REASON_RKEY_PD);
}

TEST_P(Exported, is_registered_in_parts)
{
	expect_result(0, 0, size);
	expect_result(0, size - 1, 1, 4095);
	expect_result(0, 100, 1, 0x10000 + 100);
	expect_result(0, 0, size, 0, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING);
	/* Or beyond: no sum wraps. */
	expect_result(EINVAL, 0, size + 1);
	expect_result(EINVAL, size, 1);
	expect_result(EINVAL, 4096, size);
	expect_result(EINVAL, 0, 0);
	expect_result(EINVAL, ~0ULL & ~4095ULL, 8192);
	expect_result(EINVAL, 4096, ~size_t(0));
	expect_result(EINVAL, 0, 8192, ~0ULL & ~4095ULL);
	/* Where a page begins is no choice. */
	expect_result(EINVAL, 0, 100, 1);
}

TEST_P(Exported, is_registered_with_access)
{
	expect_result(EINVAL, 0, 4096, 0, IBV_ACCESS_REMOTE_WRITE);
	expect_result(EINVAL, 0, 4096, 0, IBV_ACCESS_REMOTE_ATOMIC);
	for (int access : { IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, int(IBV_ACCESS_ZERO_BASED),
			    int(IBV_ACCESS_ON_DEMAND), 1 << 15 })
		expect_result(EINVAL, 0, 4096, 0, access);
}

TEST_P(Exported, does_not_change)
{
	Mr mr(reg_dmabuf_mr(pair.b.pd, 0, size, 0, buffer.fd()));

	for (int flags : { int(IBV_REREG_MR_CHANGE_TRANSLATION), int(IBV_REREG_MR_CHANGE_PD),
			   int(IBV_REREG_MR_CHANGE_ACCESS) }) {
		Pd other(pair.b.device);

		errno = 0;
		EXPECT_NE(ibv_rereg_mr(mr.get(), flags, other.get(), a.memory.data(), 4096,
				       access_all),
			  0);
		EXPECT_EQ(errno, EINVAL);
	}
	expect_done(request(IBV_WR_RDMA_WRITE, 0, 8, mr));
}

/* What is registered stays: without the file, without the mapping, with a second region. */
TEST_P(Exported, outlives_its_file)
{
	auto first = std::make_unique<Mr>(reg_dmabuf_mr(pair.b.pd, 0, size, 0, buffer.fd()));
	Mr second(reg_dmabuf_mr(pair.b.pd, 0, size, 0, buffer.fd()));

	buffer.shut();
	expect_done(request(IBV_WR_RDMA_WRITE, 0, size, *first));
	EXPECT_EQ(std::memcmp(buffer.bytes().data(), a.memory.data(), size), 0);
	first.reset();
	fill(buffer.bytes(), 5);
	expect_done(request(IBV_WR_RDMA_READ, 0, size, second));
	EXPECT_EQ(std::memcmp(buffer.bytes().data(), a.memory.data(), size), 0);
	EXPECT_EQ(second.deregister(), 0);
}

/* Who may not write the file does not do so by a region. */
TEST_P(Exported, to_be_read_only)
{
	const int fd = GetParam().make(size, false);

	if (fd < 0)
		GTEST_SKIP() << GetParam().name << " exports nothing that is only read";
	DmaBuf constant(fd, size, false);
	errno = 0;
	EXPECT_EQ(reg_dmabuf_mr(pair.b.pd, 0, size, 0, fd), nullptr);
	EXPECT_EQ(errno, EACCES);
	Mr mr(reg_dmabuf_mr(pair.b.pd, 0, size, 0, fd, IBV_ACCESS_REMOTE_READ));
	expect_done(request(IBV_WR_RDMA_READ, 0, size, mr));
	EXPECT_EQ(std::memcmp(constant.bytes().data(), a.memory.data(), size), 0);
}

INSTANTIATE_TEST_SUITE_P(by, Exported, testing::ValuesIn(exporters),
			 [](const auto &info) { return info.param.name; });

/* Of all that the kernel has, one at least; else nothing of the above is tested. */
TEST(Exporters, are_served_or_refused_for_want_of_a_mapping)
{
	const Device device;
	const Pd pd(device);
	int served = 0;

	for (const Exporter &exporter : exporters) {
		SCOPED_TRACE(exporter.name);
		const DmaBuf buffer(exporter.make(size, true), size);

		if (buffer.fd() < 0)
			continue;
		ibv_mr *mr = reg_dmabuf_mr(pd, 0, size, 0, buffer.fd());
		const int error = mr ? 0 : errno;
		note("%s: %s", exporter.name, mr ? "served" : std::strerror(error));
		if (mr) {
			EXPECT_EQ(ibv_dereg_mr(mr), 0);
			served++;
			continue;
		}
		EXPECT_EQ(error, EOPNOTSUPP);
		EXPECT_FALSE(exporter.is_mapped);
		/* What is wrong in itself is refused for that. */
		EXPECT_EQ(reg_dmabuf_mr(pd, 0, size + 1, 0, buffer.fd()), nullptr);
		EXPECT_EQ(errno, EINVAL);
	}
	EXPECT_GT(served, 0);
}

TEST(NotExported, is_refused)
{
	const Device device;
	const Pd pd(device);
	int ends[2];

	ASSERT_EQ(pipe(ends), 0);
	for (int fd : { -1, 12345 }) {
		errno = 0;
		EXPECT_EQ(reg_dmabuf_mr(pd, 0, 4096, 0, fd), nullptr);
		EXPECT_EQ(errno, EBADF);
	}
	for (int fd : { ends[0], device.get()->cmd_fd }) {
		errno = 0;
		EXPECT_EQ(reg_dmabuf_mr(pd, 0, 4096, 0, fd), nullptr);
		EXPECT_EQ(errno, EINVAL);
	}
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
