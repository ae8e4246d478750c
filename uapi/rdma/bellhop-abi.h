/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * bellhop-abi.h: everything that bellhop.ko and its libibverbs provider share; what completions
 * say is in bellhop-wc.h.
 *
 * Layouts only: create responses, the rings and the status page that are
 * mapped from them, and the kick. Every field says who writes it. The uverbs
 * ABI number of the device is BELLHOP_ABI_VERSION; it changes whenever a
 * layout here does, and libibverbs refuses a library of another age.
 *
 * Nothing of the kernel's lives in memory that user space can write: the
 * rings carry requests and answers, and the kernel keeps its own indices.
 */
#ifndef RDMA_BELLHOP_ABI_H
#define RDMA_BELLHOP_ABI_H

#include <linux/types.h>
#include <rdma/bellhop-wc.h>

#define BELLHOP_ABI_VERSION 8
#define BELLHOP_DRIVER_ID 0x62656c6c

/* The most that one work queue entry carries. */
#define BELLHOP_MAX_SGE 32
#define BELLHOP_MAX_INLINE 512
#define BELLHOP_MAX_MESSAGE (1U << 31)

#define BELLHOP_QPN_MAX 0xffffff
#define BELLHOP_SRQN_MAX 0xffffff

/*
 * Where a ring is found: @offset and @length go to mmap() on the uverbs file.
 * @slots is a power of two, and a ring of N slots holds N entries. Slot i
 * begins BELLHOP_RING_SLOTS + i * @stride bytes into the mapping. A queue
 * without entries has @length 0 and is not mapped.
 */
struct bellhop_ring_map {
	__aligned_u64 offset;
	__u32 length;
	__u32 slots;
	__u32 stride;
	__u32 reserved;
};

#define BELLHOP_RING_SLOTS 256

struct bellhop_alloc_ucontext_resp {
	__aligned_u64 status_offset; /* mmap() this read-only */
	__u32 status_length;
	__u32 reserved;
};

struct bellhop_create_cq_resp {
	struct bellhop_ring_map cq;
};

/*
 * A CQ is resized in two steps, each a RESIZE_CQ command: the kernel makes a ring and says where
 * it is found, and when the library has mapped it, later completions go there. Those before
 * stay where they are, to be taken first.
 */
enum bellhop_resize_step {
	BELLHOP_RESIZE_MAKE = 0, /* of a CQ, is answered by struct bellhop_resize_cq_resp */
	BELLHOP_RESIZE_MOVE = 1, /* to the ring that was made last; where it cannot, that goes */
	BELLHOP_RESIZE_DROP = 2, /* the ring that was made last */
};

struct bellhop_resize_cq {
	__u32 step; /* enum bellhop_resize_step */
	__u32 reserved;
};

struct bellhop_resize_cq_resp {
	struct bellhop_ring_map cq;
};

/*
 * An SRQ is resized in the same steps, each a MODIFY_SRQ command with IBV_SRQ_MAX_WR. That command
 * has no answer: what BELLHOP_RESIZE_MAKE tells goes to @answer. The library posts nothing
 * from before the second step until it is over, and goes on counting in the new ring.
 */
struct bellhop_modify_srq {
	__u32 step; /* enum bellhop_resize_step */
	__u32 reserved;
	__aligned_u64 answer; /* a struct bellhop_ring_map; 0 in the other steps */
};

/*
 * Which bytes of a frame say to which of its receive queues a QP gives it, in the order in which
 * they are hashed. The values are those of enum ibv_rx_hash_fields.
 */
enum bellhop_hash_fields {
	BELLHOP_HASH_SRC_IPV4 = 1 << 0,
	BELLHOP_HASH_DST_IPV4 = 1 << 1,
	BELLHOP_HASH_SRC_IPV6 = 1 << 2,
	BELLHOP_HASH_DST_IPV6 = 1 << 3,
	BELLHOP_HASH_SRC_PORT_TCP = 1 << 4,
	BELLHOP_HASH_DST_PORT_TCP = 1 << 5,
	BELLHOP_HASH_SRC_PORT_UDP = 1 << 6,
	BELLHOP_HASH_DST_PORT_UDP = 1 << 7,
};

#define BELLHOP_HASH_FIELDS 0xff
#define BELLHOP_HASH_KEY_BYTES 40

/* Follows the core's CREATE_QP where there is an indirection table: the key of a Toeplitz hash. */
struct bellhop_create_qp {
	__u32 hash_fields; /* enum bellhop_hash_fields */
	__u32 reserved;
	__u8 hash_key[BELLHOP_HASH_KEY_BYTES];
};

/* Of a receive work queue as well, which has no @sq. A queue that there is not is all zero. */
struct bellhop_create_qp_resp {
	struct bellhop_ring_map sq;
	struct bellhop_ring_map rq;
};

struct bellhop_create_srq_resp {
	struct bellhop_ring_map srq;
	__u32 srqn; /* of one whose completions are told by its number; else 0 */
	__u32 reserved;
};

/* Follows the core's REG_MR, or does not, and then @kind is 0. */
enum bellhop_mr_kind {
	BELLHOP_MR_MEMORY = 0, /* of the process */
	BELLHOP_MR_NULL = 1, /* all addresses: from 0 on, of length ~0, with local write access */
};

struct bellhop_reg_mr {
	__u32 kind; /* enum bellhop_mr_kind */
	__u32 reserved;
};

/* Where device memory is found: mmap() it; of @length bytes @size are meant. */
struct bellhop_dm_resp {
	__aligned_u64 offset;
	__u32 length;
	__u32 size;
};

/* The first page of a context's status mapping; only the kernel writes it. */
struct bellhop_status {
	__u32 need_kick; /* nonzero: kick after publishing a producer */
	__u32 gone; /* nonzero: the device was removed */
};

/*
 * Head of a send, receive or shared receive ring. Indices run freely and are masked only to
 * find a slot.
 */
struct bellhop_wq_hdr {
	__u32 producer; /* library: entries published so far */
	__u8 pad0[60];
	/*
	 * kernel: nonzero while a sender waits for a receive, or while receives
	 * are to be flushed: the library kicks after publishing. A hint; the
	 * kernel never reads it back.
	 */
	__u32 wanted;
	__u8 pad1[60];
	__u32 taken; /* kernel, of an SRQ: entries taken so far; their slots are free */
	__u8 pad2[124];
};

/* Head of a completion ring. The kernel's producer shows in the phase bits. */
struct bellhop_cq_hdr {
	__u32 consumer; /* library: entries taken so far */
	__u8 pad0[60];
	/*
	 * library: a request for a completion event, BELLHOP_CQ_ARM_*, in the
	 * low two bits; a count of requests, so that each differs from the one
	 * before, in the others.
	 */
	__u32 arm;
	__u8 pad1[60];
	__u32 fired; /* kernel: the last @arm that was answered by an event */
	__u32 moved; /* kernel: nonzero when completions go to another ring */
	__u8 pad2[120];
};

enum bellhop_cq_arm {
	BELLHOP_CQ_ARM_NEXT = 1,
	BELLHOP_CQ_ARM_SOLICITED = 2,
	BELLHOP_CQ_ARM_MASK = 3,
};

struct bellhop_sge {
	__aligned_u64 addr;
	__u32 length; /* 0 is 0 bytes */
	__u32 lkey;
};

/* What is to be done with the tagged buffers of an SRQ; the values are those of ibv_ops_wr_opcode.
 */
enum bellhop_tag_opcode {
	BELLHOP_TAG_ADD = 0,
	BELLHOP_TAG_DEL = 1,
	BELLHOP_TAG_SYNC = 2,
};

enum bellhop_tag_flags {
	BELLHOP_TAG_SIGNALED = 1 << 0, /* completes visibly; what fails does anyway */
	BELLHOP_TAG_COUNTED = 1 << 1, /* @unmatched is told; BELLHOP_TAG_SYNC tells it anyway */
};

/* Of a tagged buffer. */
#define BELLHOP_MAX_TAG_SGE 4

/* Fields that an opcode does not use are not looked at. */
struct bellhop_tag_op {
	__u32 opcode; /* enum bellhop_tag_opcode */
	__u32 flags; /* enum bellhop_tag_flags */
	__aligned_u64 wr_id; /* of the operation's own completion */
	__u32 unmatched; /* messages that came and matched no tag, as far as completions tell */
	__u32 handle; /* the library's name of the buffer that is added, or deleted */
	__aligned_u64 recv_wr_id; /* of the completions of the message that takes the buffer */
	__aligned_u64 tag; /* its tag is this one, in the bits of @mask */
	__aligned_u64 mask;
	__u32 num_sge;
	__u32 reserved;
	struct bellhop_sge sge[BELLHOP_MAX_TAG_SGE];
};

/* What a send entry asks for; the values are those of enum ibv_wr_opcode. */
enum bellhop_wr_opcode {
	BELLHOP_WR_RDMA_WRITE = 0,
	BELLHOP_WR_RDMA_WRITE_WITH_IMM = 1,
	BELLHOP_WR_SEND = 2,
	BELLHOP_WR_SEND_WITH_IMM = 3,
	BELLHOP_WR_RDMA_READ = 4,
	BELLHOP_WR_ATOMIC_CMP_AND_SWP = 5,
	BELLHOP_WR_ATOMIC_FETCH_AND_ADD = 6,
	BELLHOP_WR_LOCAL_INV = 7,
	BELLHOP_WR_BIND_MW = 8,
	BELLHOP_WR_SEND_WITH_INV = 9,
	BELLHOP_WR_ATOMIC_WRITE = 15,
};

enum bellhop_sqe_flags {
	BELLHOP_SQE_FENCE = 1 << 0,
	BELLHOP_SQE_SIGNALED = 1 << 1,
	BELLHOP_SQE_SOLICITED = 1 << 2,
	BELLHOP_SQE_INLINE = 1 << 3,
};

/*
 * A send entry: this head, then @num_sge scatter/gather elements or, with
 * BELLHOP_SQE_INLINE, @inline_length bytes. Fields that an opcode does not
 * use, and reserved ones, are zero.
 */
struct bellhop_sqe {
	__u8 opcode;
	__u8 flags;
	__u16 num_sge;
	__u32 inline_length;
	/*
	 * Immediate data, as it goes on the wire (big endian); or the rkey that a window gets by
	 * being bound, or that is invalidated.
	 */
	__u32 ex;
	__u32 rkey;
	__aligned_u64 remote_addr;
	__u32 srqn; /* XRC: the shared receive queue at the other side, 24 bits; else 0 */
	__u32 reserved;
};

/*
 * What an atomic operation works with: stands behind its one element, which is 8 bytes long and
 * gets what was in the remote word before. Of an atomic write without payload it stands at the same
 * place, and @compare_add is what is written.
 */
struct bellhop_operands {
	__aligned_u64 compare_add;
	__aligned_u64 swap; /* 0 of what adds or writes */
};

#define BELLHOP_ATOMIC_BYTES 8

/*
 * What a window is bound to: stands behind the head, which has no elements then. A window of type
 * 1 with @length 0 is unbound.
 */
struct bellhop_bind {
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 lkey; /* of the region */
	__u32 access; /* enum bellhop_bind_access */
};

/* What a window opens to the other side; the values are those of enum ibv_access_flags. */
enum bellhop_bind_access {
	BELLHOP_BIND_REMOTE_WRITE = 1 << 1,
	BELLHOP_BIND_REMOTE_READ = 1 << 2,
	BELLHOP_BIND_REMOTE_ATOMIC = 1 << 3,
	BELLHOP_BIND_ZERO_BASED = 1 << 5, /* its first byte has address 0 */
};

/*
 * Where a datagram goes: stands between head and payload in every entry of a send
 * queue of a UD QP. A @qkey with its top bit set stands for the QP's own.
 */
struct bellhop_av {
	__u8 dgid[16];
	__u32 qpn;
	__u32 qkey;
	__u32 flow_label;
	__u8 sgid_index;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 reserved;
};

/* A datagram's receive buffer begins with the route header; one of IPv4 lies at its end. */
#define BELLHOP_GRH_BYTES 40

/* A receive entry: this head, then @num_sge scatter/gather elements. */
struct bellhop_rqe {
	__u32 num_sge;
	__u32 reserved;
	__aligned_u64 wr_id; /* comes back in the completion, if the queue is shared */
};

/*
 * In a completion's @qpn: the completion is one of an SRQ with a number, which is in @wqe_index.
 * The QP may be one that is gone, or a target QP, which any process may have made, or none.
 */
#define BELLHOP_CQE_SRQ (1U << 31)

/*
 * A completion. The kernel writes it once, @phase last; reserved bytes it does not write. @phase is
 * 1 on the first pass over the ring, 0 on the second, and so on.
 */
struct bellhop_cqe {
	__u32 qpn; /* BELLHOP_CQE_SRQ may be added */
	__u32 wqe_index; /* which entry of its queue, counted from 0, wrapping */
	__u32 byte_len;
	__u32 ex; /* immediate data, big endian; or the rkey that was invalidated */
	__u32 src_qp;
	__u32 vendor_err; /* enum bellhop_reason */
	__u8 opcode; /* enum bellhop_wc_opcode */
	__u8 status; /* enum bellhop_wc_status */
	__u16 wc_flags; /* enum bellhop_wc_flags */
	__u8 sl; /* enum bellhop_sl, of a datagram */
	__u8 reserved0[3];
	__aligned_u64 wr_id; /* of a receive from an SRQ, whose QPs take entries in any order */
	__aligned_u64 timestamp; /* of a CQ that is stamped: the device's clock at that time */
	union {
		__aligned_u64 wallclock; /* likewise: nanoseconds since 1970 */
		__aligned_u64 tag; /* of a tagged message that was matched */
	};
	__u32 tag_context; /* likewise: what its sender likes */
	__u32 phase;
};

/*
 * The kick: lseek(file, qpn, SEEK_SET) on a file that BELLHOP_METHOD_KICK_ALLOC
 * of the uverbs ioctl interface returns, with a QP number of the same context.
 * Returns 0, or -1 with errno ENOENT (no such QP), EIO (the device is gone) or
 * EINVAL (another whence).
 *
 * lseek(file, 0, SEEK_CUR) returns the device's clock, which is the same for all processes: one
 * tick is a nanosecond, and nobody sets it.
 */
#define BELLHOP_CLOCK_KHZ 1000000

/* Of the driver's own part of the uverbs name space. */
enum bellhop_objects {
	BELLHOP_OBJECT_KICK = 1 << 12,
};

enum bellhop_kick_methods {
	BELLHOP_METHOD_KICK_ALLOC = 1 << 12,
};

enum bellhop_kick_alloc_attrs {
	BELLHOP_ATTR_KICK_ALLOC_FD = 1 << 12,
};

/* Of the core's QUERY_CONTEXT: struct bellhop_alloc_ucontext_resp, once more. */
enum bellhop_query_context_attrs {
	BELLHOP_ATTR_QUERY_CONTEXT_RESP = 1 << 12,
};

/* Of the core's DM_ALLOC: struct bellhop_dm_resp. */
enum bellhop_alloc_dm_attrs {
	BELLHOP_ATTR_ALLOC_DM_RESP = 1 << 12,
};

/* Of the core's object DM: tells of memory that is there already. */
enum bellhop_dm_methods {
	BELLHOP_METHOD_DM_QUERY = 1 << 12,
};

enum bellhop_query_dm_attrs {
	BELLHOP_ATTR_QUERY_DM_HANDLE = 1 << 12,
	BELLHOP_ATTR_QUERY_DM_RESP, /* struct bellhop_dm_resp */
};

/* Of the core's object SRQ: does what a struct bellhop_tag_op says. */
enum bellhop_srq_methods {
	BELLHOP_METHOD_SRQ_TAG = 1 << 12,
};

enum bellhop_srq_tag_attrs {
	BELLHOP_ATTR_SRQ_TAG_HANDLE = 1 << 12,
	BELLHOP_ATTR_SRQ_TAG_OP,
};

#ifdef __cplusplus
#define BELLHOP_ASSERT(x) static_assert(x, #x)
#else
#define BELLHOP_ASSERT(x) _Static_assert(x, #x)
#endif
BELLHOP_ASSERT(sizeof(struct bellhop_ring_map) == 24);
BELLHOP_ASSERT(sizeof(struct bellhop_alloc_ucontext_resp) == 16);
BELLHOP_ASSERT(sizeof(struct bellhop_create_cq_resp) == 24);
BELLHOP_ASSERT(sizeof(struct bellhop_resize_cq) == 8);
BELLHOP_ASSERT(sizeof(struct bellhop_resize_cq_resp) == 24);
BELLHOP_ASSERT(sizeof(struct bellhop_modify_srq) == 16);
BELLHOP_ASSERT(sizeof(struct bellhop_create_qp) == 48);
BELLHOP_ASSERT(sizeof(struct bellhop_create_qp_resp) == 48);
BELLHOP_ASSERT(sizeof(struct bellhop_create_srq_resp) == 32);
BELLHOP_ASSERT(sizeof(struct bellhop_reg_mr) == 8);
BELLHOP_ASSERT(sizeof(struct bellhop_dm_resp) == 16);
BELLHOP_ASSERT(sizeof(struct bellhop_wq_hdr) == BELLHOP_RING_SLOTS);
BELLHOP_ASSERT(sizeof(struct bellhop_cq_hdr) == BELLHOP_RING_SLOTS);
BELLHOP_ASSERT(sizeof(struct bellhop_sge) == 16);
BELLHOP_ASSERT(sizeof(struct bellhop_sqe) == 32);
BELLHOP_ASSERT(sizeof(struct bellhop_operands) == 16);
BELLHOP_ASSERT(sizeof(struct bellhop_bind) == 24);
BELLHOP_ASSERT(sizeof(struct bellhop_av) == 32);
BELLHOP_ASSERT(sizeof(struct bellhop_rqe) == 16);
BELLHOP_ASSERT(sizeof(struct bellhop_tag_op) == 120);
BELLHOP_ASSERT(sizeof(struct bellhop_cqe) == 64);
#undef BELLHOP_ASSERT

#endif /* RDMA_BELLHOP_ABI_H */
