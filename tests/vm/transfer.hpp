// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// transfer.hpp: one operation between two ends, every byte of both memories and every wc field
// checked.
#ifndef BELLHOP_VM_TRANSFER_HPP
#define BELLHOP_VM_TRANSFER_HPP

#include <algorithm>
#include <arpa/inet.h>
#include <numeric>
#include "endpoint.hpp"
#include "request.hpp"

namespace vm
{

/** A part of a region. */
struct Piece {
	size_t offset;
	uint32_t length;
};

/** How one operation is made. */
struct Transfer {
	ibv_wr_opcode opcode = IBV_WR_SEND;
	std::vector<Piece> local = {}; /* of a's region */
	std::vector<Piece> remote = {}; /* of b's; one piece, unless it is a receive */
	bool extended = false; /* by ibv_wr_*() */
	unsigned flags = 0; /* besides IBV_SEND_SIGNALED */
};

inline bool is_read(ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ;
}

inline bool takes_receive(ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

inline bool has_imm(ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

inline bool has_remote(ibv_wr_opcode opcode)
{
	return opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM;
}

/** The opcode that verbs give the requester's completion. */
inline ibv_wc_opcode send_wc_opcode(ibv_wr_opcode opcode)
{
	if (is_read(opcode))
		return IBV_WC_RDMA_READ;
	return has_remote(opcode) ? IBV_WC_RDMA_WRITE : IBV_WC_SEND;
}

inline uint32_t total(const std::vector<Piece> &pieces)
{
	return std::accumulate(pieces.begin(), pieces.end(), 0u,
			       [](uint32_t sum, const Piece &p) { return sum + p.length; });
}

/** A transfer in words, for whoever has to find out why it failed. */
inline std::string describe(const Transfer &transfer)
{
	std::string text = "opcode " + std::to_string(transfer.opcode) +
			   (transfer.extended ? ", extended" : "") + ", flags " +
			   std::to_string(transfer.flags) + ", local";

	for (const Piece &piece : transfer.local)
		text += " " + std::to_string(piece.offset) + "+" + std::to_string(piece.length);
	text += ", remote";
	for (const Piece &piece : transfer.remote)
		text += " " + std::to_string(piece.offset) + "+" + std::to_string(piece.length);
	return text;
}

inline std::vector<ibv_sge> to_sges(const Region &region, const std::vector<Piece> &pieces)
{
	std::vector<ibv_sge> sges;

	for (const Piece &piece : pieces)
		sges.push_back(region.sge(piece.offset, piece.length));
	return sges;
}

/** A pair with a region on each side, and the model that says what must be in them. */
class TransferRig
{
public:
	explicit TransferRig(size_t room, const QpShape &shape = {}, const Path &path = {},
			     int flags = 0)
	    : pair(shape, path), a(pair.a.pd, room, access_all, flags),
	      b(pair.b.pd, room, access_all, flags)
	{
	}

	/** Makes the operation and expects all that it must and must not do. */
	void run(const Transfer &transfer)
	{
		const ibv_wr_opcode opcode = transfer.opcode;
		const uint64_t id = next_id_++;
		const __be32 imm = htonl(0xfeed0000 + static_cast<uint32_t>(id));

		prepare(transfer);
		if (takes_receive(opcode))
			ASSERT_EQ(post_recv(pair.b.qp,
					    has_remote(opcode) ? std::vector<ibv_sge>()
							       : to_sges(b, transfer.remote),
					    ~id),
				  0);

		Send send = { .opcode = opcode,
			      .sges = to_sges(a, transfer.local),
			      .imm = imm,
			      .flags = IBV_SEND_SIGNALED | transfer.flags,
			      .id = id };
		if (has_remote(opcode)) {
			send.remote =
				transfer.remote.empty() ? 0 : b.address(transfer.remote[0].offset);
			send.rkey = transfer.remote.empty() ? 0 : b.mr.rkey();
		}
		ASSERT_EQ(transfer.extended ? post_extended(pair.a.qp, send)
					    : post(pair.a.qp, send),
			  0);
		check_completions(transfer, id, imm);
		check_memory(transfer);
	}

	/** Each operation there is, with so many bytes that do not lie alike on both sides. */
	void run_each(uint32_t bytes);

	Pair pair;
	Region a;
	Region b;

private:
	/* Both regions become noise; the model moves the bytes between copies of them. */
	void prepare(const Transfer &transfer)
	{
		fill(a.memory.bytes(), next_id_ * 2);
		fill(b.memory.bytes(), next_id_ * 2 + 1);
		expected_a_.assign(a.memory.bytes().begin(), a.memory.bytes().end());
		expected_b_.assign(b.memory.bytes().begin(), b.memory.bytes().end());
		if (is_read(transfer.opcode))
			move(expected_a_, transfer.local, expected_b_, transfer.remote,
			     total(transfer.local));
		else
			move(expected_b_, transfer.remote, expected_a_, transfer.local,
			     total(transfer.local));
	}

	static void move(std::vector<uint8_t> &to, const std::vector<Piece> &to_pieces,
			 const std::vector<uint8_t> &from, const std::vector<Piece> &from_pieces,
			 uint32_t bytes)
	{
		std::vector<uint8_t> stream;
		size_t moved = 0;

		for (const Piece &piece : from_pieces)
			stream.insert(stream.end(), from.begin() + piece.offset,
				      from.begin() + piece.offset + piece.length);
		for (const Piece &piece : to_pieces) {
			size_t part = std::min<size_t>(piece.length, bytes - moved);

			std::copy_n(stream.begin() + moved, part, to.begin() + piece.offset);
			moved += part;
		}
	}

	void check_completions(const Transfer &transfer, uint64_t id, __be32 imm)
	{
		const ibv_wr_opcode opcode = transfer.opcode;
		ibv_wc wc = expect(pair.a.send_cq, pair.a.qp, id);

		EXPECT_EQ(wc.opcode, send_wc_opcode(opcode));
		if (is_read(opcode))
			EXPECT_EQ(wc.byte_len, total(transfer.local));
		if (takes_receive(opcode)) {
			wc = expect(pair.b.recv_cq, pair.b.qp, ~id);
			EXPECT_EQ(wc.opcode,
				  has_remote(opcode) ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
			EXPECT_EQ(wc.byte_len, total(transfer.local));
			EXPECT_EQ(bool(wc.wc_flags & IBV_WC_WITH_IMM), has_imm(opcode));
			if (has_imm(opcode))
				EXPECT_EQ(wc.imm_data, imm);
			/* For connected QPs verbs leave it open; bellhop fills it in. */
			if (is_bellhop())
				EXPECT_EQ(wc.src_qp, pair.a.qp.get()->qp_num);
		}
		EXPECT_FALSE(pair.a.send_cq.poll() || pair.a.recv_cq.poll() ||
			     pair.b.send_cq.poll() || pair.b.recv_cq.poll())
			<< "more completions than requests";
	}

	void check_memory(const Transfer &transfer)
	{
		check_side("a", a, expected_a_, transfer);
		check_side("b", b, expected_b_, transfer);
	}

	static void check_side(const char *name, const Region &region,
			       const std::vector<uint8_t> &expected, const Transfer &transfer)
	{
		auto [at, unused] = std::mismatch(expected.begin(), expected.end(),
						  region.memory.bytes().begin());
		EXPECT_TRUE(at == expected.end())
			<< "wrong byte at offset " << at - expected.begin() << " of " << name
			<< "; " << describe(transfer);
	}

	uint64_t next_id_ = 1;
	std::vector<uint8_t> expected_a_;
	std::vector<uint8_t> expected_b_;
};

inline constexpr ibv_wr_opcode all_opcodes[] = {
	IBV_WR_SEND,	  IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
};

inline void TransferRig::run_each(uint32_t bytes)
{
	for (ibv_wr_opcode opcode : all_opcodes)
		run({ .opcode = opcode, .local = { { 1, bytes } }, .remote = { { 2, bytes } } });
}

/** An opcode's name, fit for googletest. */
inline std::string opcode_name(ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
		return "send";
	case IBV_WR_SEND_WITH_IMM:
		return "send_imm";
	case IBV_WR_RDMA_WRITE:
		return "write";
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return "write_imm";
	default:
		return "read";
	}
}

} // namespace vm

#endif
