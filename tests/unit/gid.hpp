// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// gid.hpp: GIDs, written as IPv6 addresses.
#ifndef BELLHOP_UNIT_GID_HPP
#define BELLHOP_UNIT_GID_HPP

#include <arpa/inet.h>
#include <gtest/gtest.h>

extern "C" {
#include "base.h"
}

struct Gid {
	u8 raw[16];
};

inline Gid gid_of(const char *address)
{
	Gid gid;

	EXPECT_EQ(inet_pton(AF_INET6, address, gid.raw), 1);
	return gid;
}

#endif
