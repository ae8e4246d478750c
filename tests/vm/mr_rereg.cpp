// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mr_rereg.cpp: regions that are changed: other memory, another protection domain, other access.
// What is refused changes nothing. mr_rereg_traffic.cpp has changes while requests use them.
#include <fstream>
#include <sys/resource.h>
#include "child.hpp"
#include "endpoint.hpp"
#include "rereg.hpp"

using namespace vm;

static constexpr uint32_t length = 8192;

/* b's region is the one that changes; a writes to it and reads from it. */
class Reregistration : public testing::Test
{
protected:
	Reregistration() : mr(ibv_reg_mr(pair.b.pd.get(), first.data(), first.size(), access_all))
	{
		require_errno(mr, "ibv_reg_mr");
		fill(a.memory.bytes(), 1);
	}

	~Reregistration() override
	{
		EXPECT_EQ(ibv_dereg_mr(mr), 0);
	}

	static uint64_t at(const Memory &memory)
	{
		return reinterpret_cast<uintptr_t>(memory.data());
	}

	Send writing(const Memory &to, uint32_t rkey) const
	{
		return { .opcode = IBV_WR_RDMA_WRITE,
			 .sges = { a.sge(0, length) },
			 .remote = at(to),
			 .rkey = rkey,
			 .id = 1 };
	}

	void expect_written(const Memory &to)
	{
		std::memset(to.data(), 0, length);
		ASSERT_EQ(post(pair.a.qp, writing(to, mr->rkey)), 0);
		expect(pair.a.send_cq, pair.a.qp, 1);
		EXPECT_EQ(std::memcmp(to.data(), a.memory.data(), length), 0);
	}

	/* Afterwards the pair works again. */
	void expect_refused(const Send &send, bellhop_reason reason)
	{
		ASSERT_EQ(post(pair.a.qp, send), 0);
		expect_reason(expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_ACCESS_ERR), reason);
		pair.reconnect();
	}

	/* A change that is refused with @error, by libibverbs or, with errno, by the kernel. */
	void expect_no_change(const Rereg &to, int error, int with_errno)
	{
		const ibv_mr before = *mr;

		errno = 0;
		EXPECT_EQ(rereg(mr, to), error);
		EXPECT_EQ(errno, with_errno) << std::strerror(errno);
		EXPECT_EQ(mr->pd, before.pd);
		EXPECT_EQ(mr->addr, before.addr);
		EXPECT_EQ(mr->length, before.length);
		EXPECT_EQ(mr->lkey, before.lkey);
		EXPECT_EQ(mr->rkey, before.rkey);
		expect_written(first);
	}

	Pair pair;
	Region a{ pair.a.pd, length };
	Memory first{ length }, second{ length };
	Pd other{ pair.b.device };
	ibv_mr *mr;
};

TEST_F(Reregistration, to_other_memory)
{
	const ibv_mr before = *mr;

	expect_written(first);
	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &second }), 0);
	EXPECT_EQ(mr->addr, second.data());
	EXPECT_EQ(mr->length, second.size());
	expect_written(second);

	std::memset(first.data(), 0x55, length);
	expect_refused(writing(first, mr->rkey), BELLHOP_REASON_RKEY_RANGE);
	expect_refused(writing(first, before.rkey), BELLHOP_REASON_RKEY_UNKNOWN);
	expect_refused(writing(second, before.rkey), BELLHOP_REASON_RKEY_UNKNOWN);
	for (uint8_t byte : first.bytes())
		ASSERT_EQ(byte, 0x55);
}

/* The index stays, so a region that is changed for ever does not use up all keys. */
TEST_F(Reregistration, keeps_its_place_among_the_keys)
{
	if (!is_bellhop())
		GTEST_SKIP() << "a promise of bellhop's";
	const uint32_t index = mr->lkey >> 8;

	for (int i = 0; i < 600; i++) {
		const uint32_t before = mr->lkey;

		ASSERT_EQ(rereg(mr, { translation, nullptr, i % 2 ? &first : &second }), 0);
		ASSERT_EQ(mr->lkey >> 8, index);
		ASSERT_NE(mr->lkey, before);
		ASSERT_EQ(mr->lkey ^ mr->rkey, 1u << 31);
	}
	expect_written(first);
}

TEST_F(Reregistration, to_more_and_to_less_memory)
{
	Memory large(1 << 20), small(4096);

	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &large }), 0);
	ASSERT_EQ(ibv_rereg_mr(mr, translation, nullptr, large.data() + 100, (1 << 20) - 100, 0),
		  0);
	Send send = writing(large, mr->rkey);
	send.remote += (1 << 20) - length;
	ASSERT_EQ(post(pair.a.qp, send), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_EQ(std::memcmp(large.data() + (1 << 20) - length, a.memory.data(), length), 0);
	expect_refused(writing(large, mr->rkey), BELLHOP_REASON_RKEY_RANGE);

	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &small }), 0);
	expect_refused(writing(small, mr->rkey), BELLHOP_REASON_RKEY_RANGE);
}

/* Pages that were mapped there meanwhile are others, though the address is the same. */
TEST_F(Reregistration, to_what_is_mapped_there_now)
{
	ASSERT_EQ(mmap(first.data(), length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		  first.data());
	/* What is pinned is not there any more. */
	ASSERT_EQ(post(pair.a.qp, writing(first, mr->rkey)), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	EXPECT_NE(std::memcmp(first.data(), a.memory.data(), length), 0);
	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &first }), 0);
	expect_written(first);
}

TEST_F(Reregistration, to_another_domain_and_back)
{
	const ibv_mr before = *mr;

	ASSERT_EQ(rereg(mr, { .flags = domain, .pd = other.get() }), 0);
	EXPECT_EQ(mr->pd, other.get());
	if (is_bellhop()) {
		EXPECT_EQ(mr->lkey, before.lkey);
		EXPECT_EQ(mr->rkey, before.rkey);
	}
	expect_refused(writing(first, mr->rkey), BELLHOP_REASON_RKEY_PD);
	ASSERT_EQ(rereg(mr, { .flags = domain, .pd = pair.b.pd.get() }), 0);
	expect_written(first);
	/* The same again changes nothing. */
	ASSERT_EQ(rereg(mr, { .flags = domain, .pd = pair.b.pd.get() }), 0);
	expect_written(first);
}

/* The domain has one region more or less, and may be freed only without any. */
TEST_F(Reregistration, counts_in_its_new_domain)
{
	ibv_pd *temporary = ibv_alloc_pd(pair.b.device.get());

	ASSERT_TRUE(temporary);
	ASSERT_EQ(rereg(mr, { .flags = domain, .pd = temporary }), 0);
	EXPECT_EQ(ibv_dealloc_pd(temporary), EBUSY);
	ASSERT_EQ(rereg(mr, { .flags = domain, .pd = pair.b.pd.get() }), 0);
	EXPECT_EQ(ibv_dealloc_pd(temporary), 0);
}

TEST_F(Reregistration, to_less_access_and_to_more)
{
	const ibv_mr before = *mr;
	Send read = writing(first, mr->rkey);

	read.opcode = IBV_WR_RDMA_READ;
	ASSERT_EQ(rereg(mr, { .flags = access_flags,
			      .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ }),
		  0);
	if (is_bellhop())
		EXPECT_EQ(mr->rkey, before.rkey);
	read.rkey = mr->rkey;
	ASSERT_EQ(post(pair.a.qp, read), 0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	expect_refused(writing(first, mr->rkey), BELLHOP_REASON_RKEY_ACCESS);

	ASSERT_EQ(rereg(mr, { .flags = access_flags,
			      .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE }),
		  0);
	expect_written(first);
	read.rkey = mr->rkey;
	expect_refused(read, BELLHOP_REASON_RKEY_ACCESS);

	/* And none at all. */
	ASSERT_EQ(rereg(mr, { .flags = access_flags }), 0);
	expect_refused(writing(first, mr->rkey), BELLHOP_REASON_RKEY_ACCESS);
}

TEST_F(Reregistration, of_everything_at_once)
{
	ASSERT_EQ(rereg(mr, { translation | domain | access_flags, other.get(), &second,
			      IBV_ACCESS_LOCAL_WRITE }),
		  0);
	EXPECT_EQ(mr->pd, other.get());
	EXPECT_EQ(mr->addr, second.data());
	expect_refused(writing(second, mr->rkey), BELLHOP_REASON_RKEY_PD);
	ASSERT_EQ(rereg(mr, { translation | domain | access_flags, pair.b.pd.get(), &first,
			      access_all }),
		  0);
	expect_written(first);
}

TEST_F(Reregistration, by_two_changes_at_a_time)
{
	ASSERT_EQ(rereg(mr, { translation | domain, other.get(), &second }), 0);
	expect_refused(writing(second, mr->rkey), BELLHOP_REASON_RKEY_PD);
	ASSERT_EQ(rereg(mr, { domain | access_flags, pair.b.pd.get(), nullptr,
			      IBV_ACCESS_LOCAL_WRITE }),
		  0);
	expect_refused(writing(second, mr->rkey), BELLHOP_REASON_RKEY_ACCESS);
	ASSERT_EQ(rereg(mr, { translation | access_flags, nullptr, &first, access_all }), 0);
	expect_written(first);
}

TEST_F(Reregistration, that_makes_no_sense)
{
	Memory hole(length);

	ASSERT_EQ(munmap(hole.data(), length), 0);
	expect_no_change({ .flags = 1 << 5 }, IBV_REREG_MR_ERR_INPUT, EINVAL);
	expect_no_change({ .flags = translation }, IBV_REREG_MR_ERR_INPUT, EINVAL);
	expect_no_change({ .flags = domain, .pd = pair.b.pd.get(), .access = access_all },
			 IBV_REREG_MR_ERR_INPUT, EINVAL);
	expect_no_change({ .flags = 0 }, IBV_REREG_MR_ERR_CMD, EINVAL);
	expect_no_change({ .flags = translation, .memory = &hole }, IBV_REREG_MR_ERR_CMD, EFAULT);
	expect_no_change({ .flags = access_flags, .access = IBV_ACCESS_REMOTE_WRITE },
			 IBV_REREG_MR_ERR_CMD, EINVAL);
	expect_no_change({ .flags = translation | access_flags,
			   .memory = &hole,
			   .access = IBV_ACCESS_LOCAL_WRITE },
			 IBV_REREG_MR_ERR_CMD, EFAULT);
	if (is_bellhop())
		expect_no_change({ .flags = access_flags, .access = IBV_ACCESS_ZERO_BASED },
				 IBV_REREG_MR_ERR_CMD, EOPNOTSUPP);
	errno = 0;
	EXPECT_NE(ibv_rereg_mr(mr, translation, nullptr, second.data(), ~size_t(0), 0), 0);
	EXPECT_NE(ibv_rereg_mr(mr, translation, nullptr,
			       reinterpret_cast<void *>(~uintptr_t(0) - 100), length, 0),
		  0);
	expect_written(first);
}

/* What cannot be written does not become writable by another command. */
TEST_F(Reregistration, of_memory_that_may_only_be_read)
{
	char name[] = "/tmp/mr_rereg.XXXXXX";
	const int fd = mkstemp(name);

	ASSERT_GE(fd, 0);
	unlink(name);
	ASSERT_EQ(ftruncate(fd, length), 0);
	void *start = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
	ASSERT_NE(start, MAP_FAILED);
	ibv_mr *read_only = ibv_reg_mr(pair.b.pd.get(), start, length, IBV_ACCESS_REMOTE_READ);
	ASSERT_TRUE(read_only) << std::strerror(errno);
	errno = 0;
	EXPECT_EQ(rereg(read_only, { .flags = access_flags, .access = access_all }),
		  IBV_REREG_MR_ERR_CMD);
	EXPECT_EQ(errno, EFAULT);
	/* It is still what it was. */
	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_READ,
				    .sges = { a.sge(0, length) },
				    .remote = reinterpret_cast<uintptr_t>(start),
				    .rkey = read_only->rkey,
				    .id = 1 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 1);
	/* Once the memory can be written, so can the region. */
	ASSERT_EQ(mprotect(start, length, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(rereg(read_only, { .flags = access_flags, .access = access_all }), 0);
	ASSERT_EQ(post(pair.a.qp, { .opcode = IBV_WR_RDMA_WRITE,
				    .sges = { a.sge(0, length) },
				    .remote = reinterpret_cast<uintptr_t>(start),
				    .rkey = read_only->rkey,
				    .id = 2 }),
		  0);
	expect(pair.a.send_cq, pair.a.qp, 2);
	EXPECT_EQ(std::memcmp(start, a.memory.data(), length), 0);
	EXPECT_EQ(ibv_dereg_mr(read_only), 0);
	close(fd);
	munmap(start, length);
}

/* A receive that names what the region was fails when a message comes, and says so to both. */
TEST_F(Reregistration, under_a_receive_that_waits)
{
	ASSERT_EQ(post_recv(pair.b.qp, { { at(first), length, mr->lkey } }, 7), 0);
	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &second }), 0);
	ASSERT_EQ(post(pair.a.qp, { .sges = { a.sge(0, length) }, .id = 1 }), 0);
	expect(pair.a.send_cq, pair.a.qp, 1, IBV_WC_REM_OP_ERR);
	expect_reason(expect(pair.b.recv_cq, pair.b.qp, 7, IBV_WC_LOC_PROT_ERR),
		      BELLHOP_REASON_LKEY_UNKNOWN);
}

static long pages_pinned(pid_t pid)
{
	std::ifstream file("/proc/" + std::to_string(pid) + "/status");
	std::string word;
	long kib = -1;

	while (file >> word)
		if (word == "VmPin:")
			file >> kib;
	return kib * 1024 / sysconf(_SC_PAGESIZE);
}

TEST_F(Reregistration, pins_what_it_has_and_no_more)
{
	const long before = pages_pinned(getpid());
	Memory large(1 << 20);

	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &large }), 0);
	EXPECT_EQ(pages_pinned(getpid()), before - 2 + 256);
	ASSERT_EQ(rereg(mr, { .flags = access_flags, .access = 0 }), 0);
	ASSERT_EQ(rereg(mr, { .flags = domain, .pd = other.get() }), 0);
	EXPECT_EQ(pages_pinned(getpid()), before - 2 + 256);
	ASSERT_EQ(munmap(second.data(), length), 0);
	EXPECT_NE(rereg(mr, { .flags = translation, .memory = &second }), 0);
	EXPECT_EQ(pages_pinned(getpid()), before - 2 + 256);
	ASSERT_EQ(rereg(mr, { .flags = translation, .memory = &first }), 0);
	EXPECT_EQ(pages_pinned(getpid()), before);
	/* Pages that were pinned to be read are pinned anew, once. */
	ASSERT_EQ(rereg(mr, { .flags = access_flags, .access = IBV_ACCESS_LOCAL_WRITE }), 0);
	EXPECT_EQ(pages_pinned(getpid()), before);
}

/* Old and new pages are both pinned for a moment, and count both: a limit is never passed. */
TEST(Limit, of_locked_memory)
{
	if (!is_bellhop())
		GTEST_SKIP() << "others count otherwise";
	Child child([] {
		constexpr size_t half = 64 << 10;
		const rlimit limit = { 1 << 20, 1 << 20 };
		Device device;
		Pd pd(device);
		Memory memory(2 << 20);
		uint8_t *start = memory.data();

		require_errno(!setgid(65534) && !setuid(65534), "setuid");
		require_errno(!setrlimit(RLIMIT_MEMLOCK, &limit), "setrlimit");
		ibv_mr *mr = ibv_reg_mr(pd.get(), start, half, access_all);
		if (!mr)
			return 1;
		errno = 0;
		if (ibv_rereg_mr(mr, translation, nullptr, start, 1 << 20, 0) !=
			    IBV_REREG_MR_ERR_CMD ||
		    errno != ENOMEM)
			return 2;
		for (int i = 0; i < 100; i++)
			if (ibv_rereg_mr(mr, translation, nullptr, start + half * (i % 2), half, 0))
				return 3;
		if (ibv_rereg_mr(mr, translation, nullptr, start, (1 << 20) - 3 * half, 0))
			return 4;
		return ibv_dereg_mr(mr) ? 5 : 0;
	});

	EXPECT_EQ(child.wait(), std::optional(0))
		<< "high byte: 1: reg_mr, 2: it has passed the limit, 3: pages are counted that "
		   "are not pinned, 4: less than the limit was refused";
}

/* A program that has inherited the device's file and the region's handle. */
TEST(Inheritance, does_not_pin_the_heirs_memory_for_the_old_addresses)
{
	if (!is_bellhop())
		GTEST_SKIP() << "a promise of bellhop's";
	Child child([] {
		Device device;
		Pd pd(device);
		Memory memory(length);
		ibv_mr *mr = ibv_reg_mr(pd.get(), memory.data(), length, IBV_ACCESS_REMOTE_READ);

		if (!mr)
			return 1;
		const pid_t heir = fork();
		if (!heir) {
			errno = 0;
			_exit(rereg(mr, { .flags = access_flags, .access = access_all }) ==
						      IBV_REREG_MR_ERR_CMD &&
					      errno == EINVAL
				      ? 0
				      : 2);
		}
		int status = 3;
		waitpid(heir, &status, 0);
		if (status)
			return 3;
		return rereg(mr, { .flags = access_flags, .access = access_all }) ? 4 : 0;
	});

	EXPECT_EQ(child.wait(), std::optional(0));
}

int main(int argc, char **argv)
{
	return run_ktap(argc, argv);
}
