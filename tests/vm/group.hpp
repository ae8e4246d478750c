// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// group.hpp: multicast groups, and QPs that are attached to them.
#ifndef BELLHOP_VM_GROUP_HPP
#define BELLHOP_VM_GROUP_HPP

#include "datagram.hpp"

namespace vm
{

/** The QP number of all groups. */
inline constexpr uint32_t group_qpn = 0xffffff;

/** The group @number of those of IPv6; there are as many as one likes. */
inline ibv_gid group_gid(uint32_t number)
{
	ibv_gid gid = { .raw = { 0xff, 0x0e, 0xbe, 0x11 } };

	number = htonl(number);
	std::memcpy(gid.raw + 12, &number, sizeof(number));
	return gid;
}

/** Of those that send to groups and receive from them here. */
inline constexpr uint32_t group_qkey = 0x11111111;

/** What is sent: the first bytes of the sender's memory, and where it is received. */
inline constexpr uint32_t letter_bytes = 1000, letter_at = 8192;

/** A letter to the group that @ah is of. */
inline Send to_group(const Station &from, const AddressHandle &ah, uint64_t id = 1)
{
	return { .sges = { from.region.sge(0, letter_bytes) },
		 .id = id,
		 .ah = ah.get(),
		 .qpn = group_qpn,
		 .qkey = group_qkey };
}

/** Takes one more letter. */
inline void receive(const Station &station, uint64_t id = 1)
{
	ASSERT_EQ(post_recv(station.qp, { station.region.sge(letter_at, grh_bytes + letter_bytes) },
			    id),
		  0);
}

/** A QP is attached to a group for as long as this lives. */
class Attachment
{
public:
	Attachment(const Qp &qp, const ibv_gid &gid, uint16_t lid = 0)
	    : qp_(qp.get()), gid_(gid), lid_(lid)
	{
		require(!ibv_attach_mcast(qp_, &gid_, lid_), "ibv_attach_mcast");
	}

	~Attachment()
	{
		if (qp_)
			ibv_detach_mcast(qp_, &gid_, lid_);
	}

	Attachment(Attachment &&other)
	    : qp_(std::exchange(other.qp_, nullptr)), gid_(other.gid_), lid_(other.lid_)
	{
	}

	/** Ends it now. Returns 0 or an errno. */
	int end()
	{
		return ibv_detach_mcast(std::exchange(qp_, nullptr), &gid_, lid_);
	}

private:
	ibv_qp *qp_;
	ibv_gid gid_;
	uint16_t lid_;
};

} // namespace vm

#endif
