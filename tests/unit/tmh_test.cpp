// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tmh_test.cpp: tmh.c: headers as rdma-core's <infiniband/tm_types.h> lays them out.
#include <cstddef>
#include <cstring>
#include <memory>

#include <endian.h>
#include <gtest/gtest.h>
#include <infiniband/tm_types.h>

extern "C" {
#include "tmh.h"
}

static_assert(int(BELLHOP_TMH_NO_TAG) == IBV_TMH_NO_TAG);
static_assert(int(BELLHOP_TMH_RNDV) == IBV_TMH_RNDV);
static_assert(int(BELLHOP_TMH_FIN) == IBV_TMH_FIN);
static_assert(int(BELLHOP_TMH_EAGER) == IBV_TMH_EAGER);
static_assert(sizeof(ibv_tmh) == BELLHOP_TMH_BYTES && sizeof(ibv_rvh) == BELLHOP_RVH_BYTES);

namespace
{

struct Headers {
	ibv_tmh tmh;
	ibv_rvh rvh;
};

Headers headers(u8 op)
{
	Headers headers{};

	headers.tmh.opcode = op;
	headers.tmh.app_ctx = htobe32(0x01020304);
	headers.tmh.tag = htobe64(0x1122334455667788);
	headers.rvh.va = htobe64(0x8877665544332211);
	headers.rvh.rkey = htobe32(0xa1a2a3a4);
	headers.rvh.len = htobe32(0x0badcafe);
	return headers;
}

/* From memory of just that size, so that a byte too many is found. */
bellhop_tmh decode(const Headers &headers, size_t length = sizeof(Headers))
{
	const auto exact = std::make_unique<u8[]>(length);
	bellhop_tmh tmh;

	std::memcpy(exact.get(), &headers, length);
	std::memset(&tmh, 0xee, sizeof(tmh));
	bellhop_tmh_decode(&tmh, exact.get(), u32(length));
	return tmh;
}

} // namespace

TEST(tmh, decode__eager)
{
	const bellhop_tmh tmh = decode(headers(IBV_TMH_EAGER));

	EXPECT_EQ(tmh.op, BELLHOP_TMH_EAGER);
	EXPECT_TRUE(bellhop_tmh_is_tagged(&tmh));
	EXPECT_EQ(tmh.context, 0x01020304u);
	EXPECT_EQ(tmh.tag, 0x1122334455667788u);
	EXPECT_EQ(tmh.addr, 0u) << "that is payload";
}

TEST(tmh, decode__rendezvous)
{
	for (u8 op : { IBV_TMH_RNDV, IBV_TMH_FIN }) {
		const bellhop_tmh tmh = decode(headers(op));

		EXPECT_EQ(tmh.op, op);
		EXPECT_EQ(bellhop_tmh_is_tagged(&tmh), op == IBV_TMH_RNDV);
		EXPECT_EQ(tmh.tag, 0x1122334455667788u);
		EXPECT_EQ(tmh.addr, 0x8877665544332211u);
		EXPECT_EQ(tmh.rkey, 0xa1a2a3a4u);
		EXPECT_EQ(tmh.length, 0x0badcafeu);
	}
}

TEST(tmh, decode__what_is_none_has_no_tag)
{
	for (unsigned op = 0; op < 256; op++) {
		const bool known = op == IBV_TMH_RNDV || op == IBV_TMH_FIN || op == IBV_TMH_EAGER;
		const size_t needed = op == IBV_TMH_EAGER ? 16 : 32;

		for (size_t length = 0; length <= sizeof(Headers); length++) {
			const bellhop_tmh tmh = decode(headers(u8(op)), length);

			EXPECT_EQ(tmh.op, known && length >= needed ? op : 0u);
			EXPECT_TRUE(tmh.op || !tmh.tag);
		}
	}
}

TEST(tmh, finish__keeps_the_rest)
{
	Headers sent = headers(IBV_TMH_RNDV);
	const bellhop_tmh before = decode(sent);

	bellhop_tmh_finish(reinterpret_cast<u8 *>(&sent));
	const bellhop_tmh after = decode(sent);
	EXPECT_EQ(after.op, BELLHOP_TMH_FIN);
	EXPECT_EQ(after.tag, before.tag);
	EXPECT_EQ(after.addr, before.addr);
	EXPECT_EQ(after.length, before.length);
}
