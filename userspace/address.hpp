// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// address.hpp: what an address handle is to the library: bytes for the entries of datagrams.
#pragma once

#include <cstring>
#include <infiniband/verbs.h>
#include <rdma/bellhop-abi.h>

namespace bellhop
{

// The kernel has one as well, which it made only to check the address.
class AddressHandle : public ibv_ah
{
public:
	explicit AddressHandle(const ibv_ah_attr &attr) noexcept : ibv_ah{}, av_{}
	{
		std::memcpy(av_.dgid, attr.grh.dgid.raw, sizeof(av_.dgid));
		av_.flow_label = attr.grh.flow_label & 0xfffff;
		av_.sgid_index = attr.grh.sgid_index;
		av_.hop_limit = attr.grh.hop_limit;
		av_.traffic_class = attr.grh.traffic_class;
	}

	static AddressHandle *of(ibv_ah *ah) noexcept
	{
		return static_cast<AddressHandle *>(ah);
	}

	// What an entry carries, but for the QP number and the Q_Key.
	const bellhop_av &av() const noexcept
	{
		return av_;
	}

private:
	bellhop_av av_;
};

} // namespace bellhop
