// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// wqe.hpp: writes work requests into the slots of a ring.
//
// Pure: a request and the queue's limits in, bytes or a positive errno out. A slot that a
// refused request has touched is written anew by the next one.
#pragma once

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <infiniband/verbs.h>
#include <rdma/bellhop-abi.h>
#include "address.hpp"
#include "service.hpp"

namespace bellhop
{

// What a queue was created for.
struct WqeLimits {
	std::uint32_t max_sge;
	std::uint32_t max_inline; // bytes; 0 for receive queues
	Service service = SERVICE_RC; // of a send queue's QP

	// The entries of a send queue have addresses.
	bool is_datagram() const noexcept
	{
		return service == SERVICE_UD;
	}

	// The same, or they have numbers of SRQs.
	bool is_addressed() const noexcept
	{
		return service & SERVICES_ADDRESSED;
	}

	// What entries have of a request's SRQ number.
	std::uint32_t srqn_bits() const noexcept
	{
		return service == SERVICE_XRC ? std::uint32_t{ BELLHOP_SRQN_MAX } : 0;
	}

	std::size_t head_bytes() const noexcept
	{
		return sizeof(bellhop_sqe) + (is_datagram() ? sizeof(bellhop_av) : 0);
	}
};

static_assert(int{ BELLHOP_WR_RDMA_WRITE } == IBV_WR_RDMA_WRITE);
static_assert(int{ BELLHOP_WR_RDMA_WRITE_WITH_IMM } == IBV_WR_RDMA_WRITE_WITH_IMM);
static_assert(int{ BELLHOP_WR_SEND } == IBV_WR_SEND);
static_assert(int{ BELLHOP_WR_SEND_WITH_IMM } == IBV_WR_SEND_WITH_IMM);
static_assert(int{ BELLHOP_WR_RDMA_READ } == IBV_WR_RDMA_READ);
static_assert(int{ BELLHOP_WR_ATOMIC_CMP_AND_SWP } == IBV_WR_ATOMIC_CMP_AND_SWP);
static_assert(int{ BELLHOP_WR_ATOMIC_FETCH_AND_ADD } == IBV_WR_ATOMIC_FETCH_AND_ADD);
static_assert(int{ BELLHOP_WR_LOCAL_INV } == IBV_WR_LOCAL_INV);
static_assert(int{ BELLHOP_WR_BIND_MW } == IBV_WR_BIND_MW);
static_assert(int{ BELLHOP_WR_SEND_WITH_INV } == IBV_WR_SEND_WITH_INV);
static_assert(int{ BELLHOP_WR_ATOMIC_WRITE } == IBV_WR_ATOMIC_WRITE);
static_assert(int{ BELLHOP_BIND_REMOTE_WRITE } == IBV_ACCESS_REMOTE_WRITE);
static_assert(int{ BELLHOP_BIND_REMOTE_READ } == IBV_ACCESS_REMOTE_READ);
static_assert(int{ BELLHOP_BIND_REMOTE_ATOMIC } == IBV_ACCESS_REMOTE_ATOMIC);
static_assert(int{ BELLHOP_BIND_ZERO_BASED } == IBV_ACCESS_ZERO_BASED);
static_assert(offsetof(ibv_send_wr, invalidate_rkey) == offsetof(ibv_send_wr, imm_data));
static_assert(offsetof(ibv_send_wr, wr.atomic.remote_addr) ==
	      offsetof(ibv_send_wr, wr.rdma.remote_addr));
static_assert(int{ BELLHOP_SQE_FENCE } == IBV_SEND_FENCE);
static_assert(int{ BELLHOP_SQE_SIGNALED } == IBV_SEND_SIGNALED);
static_assert(int{ BELLHOP_SQE_SOLICITED } == IBV_SEND_SOLICITED);
static_assert(int{ BELLHOP_SQE_INLINE } == IBV_SEND_INLINE);
static_assert(sizeof(ibv_wr_opcode) == sizeof(std::uint32_t));
static_assert(sizeof(bellhop_sge) == sizeof(ibv_sge));
static_assert(offsetof(bellhop_sge, addr) == offsetof(ibv_sge, addr));
static_assert(offsetof(bellhop_sge, length) == offsetof(ibv_sge, length));
static_assert(offsetof(bellhop_sge, lkey) == offsetof(ibv_sge, lkey));

inline constexpr std::uint32_t SQE_FLAGS =
	BELLHOP_SQE_FENCE | BELLHOP_SQE_SIGNALED | BELLHOP_SQE_SOLICITED | BELLHOP_SQE_INLINE;

// Of what is done on this side alone.
inline constexpr std::uint32_t SQE_FLAGS_LOCAL = BELLHOP_SQE_FENCE | BELLHOP_SQE_SIGNALED;

// What stands behind the head of an entry.
enum class Payload : std::uint8_t {
	BYTES, // elements, or inline
	WORD, // an element, and what an atomic works with
	STORE, // elements, or inline, but not nothing
	KEY, // nothing: the head has the key that is invalidated
	BIND, // what a window is bound to
};

// What an opcode uses of a request: masks, because a field that it does not use must be zero.
struct OpcodeRow {
	std::uint32_t flags; // allowed
	std::uint32_t ex;
	std::uint64_t target; // the remote address and its key
	Service services; // those that have it
	Payload payload = Payload::BYTES;
	std::uint64_t swap = 0; // of an atomic
};
static_assert(std::has_single_bit(sizeof(OpcodeRow)), "found with a shift");

inline constexpr OpcodeRow OPCODE_ROWS[] = {
	{ SQE_FLAGS, 0, ~0ULL, SERVICES_CONNECTED }, // RDMA_WRITE
	{ SQE_FLAGS, ~0U, ~0ULL, SERVICES_CONNECTED }, // RDMA_WRITE_WITH_IMM
	{ SQE_FLAGS, 0, 0, SERVICES_ALL }, // SEND
	{ SQE_FLAGS, ~0U, 0, SERVICES_IBA }, // SEND_WITH_IMM
	{ SQE_FLAGS & ~BELLHOP_SQE_INLINE, 0, ~0ULL, SERVICES_RELIABLE }, // RDMA_READ
	{ SQE_FLAGS & ~BELLHOP_SQE_INLINE, 0, ~0ULL, SERVICES_RELIABLE, Payload::WORD,
	  ~0ULL }, // CMP_AND_SWP
	{ SQE_FLAGS & ~BELLHOP_SQE_INLINE, 0, ~0ULL, SERVICES_RELIABLE,
	  Payload::WORD }, // FETCH_AND_ADD
	{ SQE_FLAGS_LOCAL, ~0U, 0, SERVICES_CONNECTED, Payload::KEY }, // LOCAL_INV
	{ SQE_FLAGS_LOCAL, 0, 0, SERVICES_CONNECTED, Payload::BIND }, // BIND_MW
	{ SQE_FLAGS, ~0U, 0, SERVICES_RELIABLE }, // SEND_WITH_INV
	{}, // those of other devices
	{},
	{},
	{},
	{},
	{ SQE_FLAGS, 0, ~0ULL, SERVICES_RELIABLE, Payload::STORE }, // ATOMIC_WRITE
};
static_assert(std::size(OPCODE_ROWS) == BELLHOP_WR_ATOMIC_WRITE + 1);

// Goes nowhere, so that it needs nobody's address.
constexpr bool is_local(const OpcodeRow &row) noexcept
{
	return row.payload == Payload::KEY || row.payload == Payload::BIND;
}

// The part of a send entry's head that depends on its payload, as one store.
inline void write_shape(void *slot, std::uint8_t opcode, std::uint8_t flags, std::uint32_t num_sge,
			std::uint32_t inline_length) noexcept
{
	std::uint64_t word;

	if constexpr (std::endian::native == std::endian::little)
		word = std::uint64_t{ inline_length } << 32 | std::uint64_t{ num_sge } << 16 |
		       std::uint64_t{ flags } << 8 | opcode;
	else
		word = std::uint64_t{ opcode } << 56 | std::uint64_t{ flags } << 48 |
		       std::uint64_t{ num_sge } << 32 | inline_length;
	std::memcpy(slot, &word, sizeof(word));
}

// The part that does not.
inline void write_target(void *slot, std::uint32_t ex, std::uint32_t rkey,
			 std::uint64_t remote_addr, std::uint32_t srqn = 0) noexcept
{
	auto *sqe = static_cast<bellhop_sqe *>(slot);

	sqe->ex = ex;
	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	sqe->srqn = srqn;
	sqe->reserved = 0;
}

inline std::byte *sqe_payload(void *slot, const WqeLimits &limits) noexcept
{
	return static_cast<std::byte *>(slot) + limits.head_bytes();
}

// Of an atomic: what it works with. Every slot has the room.
inline void write_operands(void *slot, std::uint64_t compare_add, std::uint64_t swap) noexcept
{
	auto *element = reinterpret_cast<bellhop_sge *>(static_cast<bellhop_sqe *>(slot) + 1);

	*reinterpret_cast<bellhop_operands *>(element + 1) = { .compare_add = compare_add,
							       .swap = swap };
}

// Of a bind. Returns false when there is no such access.
inline bool write_bind(void *slot, const ibv_mw_bind_info &info) noexcept
{
	constexpr unsigned GRANTED = BELLHOP_BIND_REMOTE_WRITE | BELLHOP_BIND_REMOTE_READ |
				     BELLHOP_BIND_REMOTE_ATOMIC | BELLHOP_BIND_ZERO_BASED;
	// A window gives its owner nothing, and hints have no use; programs ask for both.
	constexpr unsigned IGNORED = IBV_ACCESS_LOCAL_WRITE | unsigned{ IBV_ACCESS_OPTIONAL_RANGE };
	auto access = static_cast<std::uint32_t>(info.mw_access_flags);

	if (access & ~(GRANTED | IGNORED))
		return false;
	*reinterpret_cast<bellhop_bind *>(static_cast<bellhop_sqe *>(slot) + 1) = {
		.addr = info.addr,
		.length = info.length,
		.lkey = info.mr ? info.mr->lkey : 0,
		.access = access & GRANTED,
	};
	return true;
}

// Whether a request may bind a window to have that rkey: one of type 2, whose program chooses
// the low byte.
inline bool may_bind(const ibv_mw *mw, std::uint32_t rkey) noexcept
{
	return mw && mw->type == IBV_MW_TYPE_2 && !((mw->rkey ^ rkey) & ~0xffU);
}

// Of a datagram: where to. Returns false when there is no such QP number.
inline bool write_address(void *slot, ibv_ah *ah, std::uint32_t qpn, std::uint32_t qkey) noexcept
{
	auto *av = reinterpret_cast<bellhop_av *>(static_cast<bellhop_sqe *>(slot) + 1);

	if (!ah || qpn > BELLHOP_QPN_MAX)
		return false;
	*av = AddressHandle::of(ah)->av();
	av->qpn = qpn;
	av->qkey = qkey;
	return true;
}

// Of a request that says whom it is for. Returns false when there can be no such one.
[[gnu::cold]] inline bool write_addressee(void *slot, const ibv_send_wr &wr, const OpcodeRow &row,
					  const WqeLimits &limits) noexcept
{
	if (limits.is_datagram())
		return write_address(slot, wr.wr.ud.ah, wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
	// Its number goes with the target, later.
	return is_local(row) || wr.qp_type.xrc.remote_srqn <= BELLHOP_SRQN_MAX;
}

// Copies scatter/gather elements to where a head ends.
inline void write_elements(void *to, const ibv_sge *sg_list, std::uint32_t num_sge) noexcept
{
	auto *sge = static_cast<bellhop_sge *>(to);

	for (std::uint32_t i = 0; i < num_sge; i++) {
		sge[i].addr = sg_list[i].addr;
		sge[i].length = sg_list[i].length;
		sge[i].lkey = sg_list[i].lkey;
	}
}

// Gathers inline bytes behind a send entry's head.
class InlineWriter
{
public:
	InlineWriter(void *slot, const WqeLimits &limits) noexcept
	    : to_(sqe_payload(slot, limits)), room_(limits.max_inline)
	{
	}

	// Returns false, with nothing written, when the bytes exceed the room that is left.
	bool append(const void *from, std::size_t length) noexcept
	{
		if (length > room_)
			return false;
		if (length)
			std::memcpy(to_ + length_, from, length);
		length_ += static_cast<std::uint32_t>(length);
		room_ -= static_cast<std::uint32_t>(length);
		return true;
	}

	std::uint32_t length() const noexcept
	{
		return length_;
	}

private:
	std::byte *to_;
	std::uint32_t room_;
	std::uint32_t length_ = 0;
};

// The payload that is not bytes, and the head's target. Returns 0 or EINVAL.
[[gnu::cold]] inline int encode_special(void *slot, const ibv_send_wr &wr, std::uint8_t opcode,
					std::uint8_t flags, std::uint32_t srqn) noexcept
{
	const OpcodeRow &row = OPCODE_ROWS[opcode];

	if (row.payload == Payload::STORE) {
		write_target(slot, 0, wr.wr.rdma.rkey, wr.wr.rdma.remote_addr, srqn);
		// Without elements the kernel would look for a word that is not there.
		return wr.num_sge ? 0 : EINVAL;
	}
	if (row.payload == Payload::WORD) {
		write_operands(slot, wr.wr.atomic.compare_add, wr.wr.atomic.swap & row.swap);
		write_target(slot, 0, wr.wr.atomic.rkey, wr.wr.atomic.remote_addr, srqn);
		return 0;
	}
	// Elements have no meaning here, whatever the program has left there.
	write_shape(slot, opcode, flags, 0, 0);
	if (row.payload == Payload::KEY) {
		write_target(slot, wr.invalidate_rkey, 0, 0);
		return 0;
	}
	if (!may_bind(wr.bind_mw.mw, wr.bind_mw.rkey) || !write_bind(slot, wr.bind_mw.bind_info))
		return EINVAL;
	write_target(slot, wr.bind_mw.rkey, 0, 0);
	return 0;
}

// Writes a send entry. Returns 0, or EINVAL when the queue cannot take the request.
inline int encode_send(void *slot, const ibv_send_wr &wr, const WqeLimits &limits) noexcept
{
	std::uint32_t opcode;
	auto num_sge = static_cast<std::uint32_t>(wr.num_sge);
	auto flags = static_cast<std::uint32_t>(wr.send_flags);

	// Programs in C may put any number there, of which C++'s enum knows nothing.
	std::memcpy(&opcode, &wr.opcode, sizeof(opcode));
	if (opcode >= std::size(OPCODE_ROWS)) [[unlikely]]
		return EINVAL;
	const OpcodeRow &row = OPCODE_ROWS[opcode];

	if (num_sge > limits.max_sge || (flags & ~row.flags) || !(row.services & limits.service))
		[[unlikely]]
		return EINVAL;
	if (limits.is_addressed() && !write_addressee(slot, wr, row, limits))
		return EINVAL;
	const std::uint32_t srqn = wr.qp_type.xrc.remote_srqn & limits.srqn_bits();

	if (flags & BELLHOP_SQE_INLINE) {
		InlineWriter writer(slot, limits);

		for (std::uint32_t i = 0; i < num_sge; i++) {
			auto *from = reinterpret_cast<const void *>(
				static_cast<std::uintptr_t>(wr.sg_list[i].addr));

			if (!writer.append(from, wr.sg_list[i].length)) [[unlikely]]
				return EINVAL;
		}
		write_shape(slot, opcode, flags, 0, writer.length());
	} else {
		write_elements(sqe_payload(slot, limits), wr.sg_list, num_sge);
		write_shape(slot, opcode, flags, num_sge, 0);
		if (row.payload != Payload::BYTES) [[unlikely]]
			return encode_special(slot, wr, opcode, flags, srqn);
	}
	write_target(slot, wr.imm_data & row.ex,
		     wr.wr.rdma.rkey & static_cast<std::uint32_t>(row.target),
		     wr.wr.rdma.remote_addr & row.target, srqn);
	return 0;
}

// Binds a window of type 1.
struct BindRequest {
	const BindRequest *next = nullptr;
	std::uint64_t wr_id;
	unsigned flags;
	std::uint32_t rkey; // that the window is to have
	const ibv_mw_bind_info &info;
};

// Writes its entry. Returns 0, or EINVAL when there is no such request.
inline int encode_bind(void *slot, const BindRequest &request, const WqeLimits &limits) noexcept
{
	const OpcodeRow &row = OPCODE_ROWS[BELLHOP_WR_BIND_MW];

	if ((request.flags & ~row.flags) || !(row.services & limits.service) ||
	    (request.info.mw_access_flags & IBV_ACCESS_ZERO_BASED) ||
	    !write_bind(slot, request.info))
		return EINVAL;
	write_shape(slot, BELLHOP_WR_BIND_MW, static_cast<std::uint8_t>(request.flags), 0, 0);
	write_target(slot, request.rkey, 0, 0);
	return 0;
}

// Writes a receive entry. Returns 0, or EINVAL when the queue cannot take the request.
inline int encode_recv(void *slot, const ibv_recv_wr &wr, const WqeLimits &limits) noexcept
{
	auto num_sge = static_cast<std::uint32_t>(wr.num_sge);

	if (num_sge > limits.max_sge) [[unlikely]]
		return EINVAL;
	*static_cast<bellhop_rqe *>(slot) = { .num_sge = num_sge, .reserved = 0, .wr_id = 0 };
	write_elements(static_cast<std::byte *>(slot) + sizeof(bellhop_rqe), wr.sg_list, num_sge);
	return 0;
}

// Of an entry of an SRQ: what its completion brings back.
inline void write_wr_id(void *slot, std::uint64_t wr_id) noexcept
{
	static_cast<bellhop_rqe *>(slot)->wr_id = wr_id;
}

} // namespace bellhop
