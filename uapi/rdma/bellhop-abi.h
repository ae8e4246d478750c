/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * bellhop-abi.h: everything that bellhop.ko and its libibverbs provider share.
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

#define BELLHOP_ABI_VERSION 7
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

/* How an entry ended; the values are those of enum ibv_wc_status. */
enum bellhop_wc_status {
	BELLHOP_WC_SUCCESS = 0,
	BELLHOP_WC_LOC_LEN_ERR = 1,
	BELLHOP_WC_LOC_QP_OP_ERR = 2,
	BELLHOP_WC_LOC_PROT_ERR = 4,
	BELLHOP_WC_WR_FLUSH_ERR = 5,
	BELLHOP_WC_MW_BIND_ERR = 6,
	BELLHOP_WC_LOC_ACCESS_ERR = 8,
	BELLHOP_WC_REM_INV_REQ_ERR = 9,
	BELLHOP_WC_REM_ACCESS_ERR = 10,
	BELLHOP_WC_REM_OP_ERR = 11,
	BELLHOP_WC_RETRY_EXC_ERR = 12,
	BELLHOP_WC_RNR_RETRY_EXC_ERR = 13,
	BELLHOP_WC_FATAL_ERR = 19,
};

/* What was completed; the values are those of enum ibv_wc_opcode. */
enum bellhop_wc_opcode {
	BELLHOP_WC_SEND = 0,
	BELLHOP_WC_RDMA_WRITE = 1,
	BELLHOP_WC_RDMA_READ = 2,
	BELLHOP_WC_COMP_SWAP = 3,
	BELLHOP_WC_FETCH_ADD = 4,
	BELLHOP_WC_BIND_MW = 5,
	BELLHOP_WC_LOCAL_INV = 6,
	BELLHOP_WC_ATOMIC_WRITE = 9,
	BELLHOP_WC_RECV = 128, /* this bit: the entry was a receive */
	BELLHOP_WC_RECV_RDMA_WITH_IMM = 129,
};

enum bellhop_wc_flags {
	BELLHOP_WC_GRH = 1 << 0, /* as IBV_WC_GRH: a datagram, behind BELLHOP_GRH_BYTES */
	BELLHOP_WC_WITH_IMM = 1 << 1, /* as IBV_WC_WITH_IMM */
	BELLHOP_WC_WITH_INV = 1 << 3, /* as IBV_WC_WITH_INV */
};

/* The low three bits of a datagram's sl: what its header is, since RoCE uses no service levels. */
enum bellhop_sl {
	BELLHOP_SL_IPV6 = 1,
	BELLHOP_SL_IPV4 = 2,
};

/*
 * Why an entry failed: vendor_err of its completion, and what
 * `rdma resource show qp -dd` prints as drv_last_reason. Appended to, never
 * renumbered.
 */
enum bellhop_reason {
	BELLHOP_REASON_NONE = 0,
	/* The entry itself. */
	BELLHOP_REASON_RING_INDEX = 1, /* the producer index is not possible */
	BELLHOP_REASON_WR_OPCODE = 2, /* unknown, or not of this QP type */
	BELLHOP_REASON_WR_FLAGS = 3, /* unknown, or not of this opcode; or access, of a bind */
	BELLHOP_REASON_WR_NUM_SGE =
		4, /* more elements than the queue has; or not the one of an atomic */
	BELLHOP_REASON_WR_INLINE = 5, /* more inline bytes than the queue has */
	BELLHOP_REASON_WR_LENGTH = 6, /* more than BELLHOP_MAX_MESSAGE bytes; or not an atomic's */
	BELLHOP_REASON_WR_RESERVED = 7, /* a reserved field is not zero */
	BELLHOP_REASON_WR_ADDRESS = 8, /* of a datagram: no such QP number or source GID */
	/* A key of this side. */
	BELLHOP_REASON_LKEY_UNKNOWN = 16, /* no region has it */
	BELLHOP_REASON_LKEY_PD = 17, /* the region is of another PD */
	BELLHOP_REASON_LKEY_ACCESS = 18, /* no local write access */
	BELLHOP_REASON_LKEY_RANGE = 19, /* bytes outside of the region */
	BELLHOP_REASON_LKEY_ABSENT = 20, /* of pages on demand: the process has none there */
	/* A key of the other side. */
	BELLHOP_REASON_RKEY_UNKNOWN = 32,
	BELLHOP_REASON_RKEY_PD = 33,
	BELLHOP_REASON_RKEY_ACCESS = 34,
	BELLHOP_REASON_RKEY_RANGE = 35,
	BELLHOP_REASON_RKEY_QP = 36, /* of a window that is bound to another QP */
	BELLHOP_REASON_RKEY_ABSENT = 37, /* of pages on demand: the process has none there */
	/* The responder. */
	BELLHOP_REASON_QP_ACCESS = 48, /* its QP does not allow the operation */
	BELLHOP_REASON_RECV_TOO_SHORT = 49, /* the message exceeds the receive */
	BELLHOP_REASON_RECV_FAULTY = 50, /* its receive entry is not valid */
	BELLHOP_REASON_RNR = 51, /* it had no receive, too often */
	BELLHOP_REASON_SILENT = 52, /* no answer: absent, or not ready to receive */
	BELLHOP_REASON_NO_RD_ATOMIC = 53, /* it takes no RDMA reads and atomics */
	BELLHOP_REASON_SEQUENCE = 54, /* a message began before the last one ended */
	BELLHOP_REASON_ALIGNMENT = 55, /* an atomic's word does not lie on 8 bytes */
	/* The queues. */
	BELLHOP_REASON_FLUSHED = 64, /* the QP was in error already */
	BELLHOP_REASON_CQ_OVERRUN = 65, /* a completion found its CQ full */
	/* A window that was to be bound or invalidated. */
	BELLHOP_REASON_MW_UNKNOWN = 80, /* no window has the rkey */
	BELLHOP_REASON_MW_PD = 81, /* QP, window and region are not of one PD */
	BELLHOP_REASON_MW_TYPE = 82, /* what is asked for is not for windows of this type */
	BELLHOP_REASON_MW_BOUND = 83, /* it is bound already, and of type 2 */
	BELLHOP_REASON_MW_UNBOUND = 84, /* it is not bound */
	BELLHOP_REASON_MW_QP = 85, /* it is bound to another QP */
	BELLHOP_REASON_MW_REGION = 86, /* no region has the lkey */
	BELLHOP_REASON_MW_REGION_ACCESS =
		87, /* the region lets no window be bound, or none that changes it */
	BELLHOP_REASON_MW_RANGE = 88, /* bytes outside of the region, or none */
	/* The shared receive queue that an XRC request names. */
	BELLHOP_REASON_XRC_SRQ_UNKNOWN = 96, /* none for XRC has the number */
	BELLHOP_REASON_XRC_DOMAIN = 97, /* it is of another XRC domain than the target QP */
};

/*
 * In a completion's @qpn: the number is a target QP's, which any process may have made, and
 * @wqe_index is the number of the XRC shared receive queue that the entry is from.
 */
#define BELLHOP_CQE_XRC (1U << 31)

/*
 * A completion. The kernel writes it once, @phase last; reserved bytes it does not write. @phase is
 * 1 on the first pass over the ring, 0 on the second, and so on.
 */
struct bellhop_cqe {
	__u32 qpn; /* BELLHOP_CQE_XRC may be added */
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
	__aligned_u64 wallclock; /* likewise: nanoseconds since 1970 */
	__u32 reserved1;
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
BELLHOP_ASSERT(sizeof(struct bellhop_create_srq_resp) == 24);
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
BELLHOP_ASSERT(sizeof(struct bellhop_cqe) == 64);
#undef BELLHOP_ASSERT

#endif /* RDMA_BELLHOP_ABI_H */
