/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause */
/* bellhop-wc.h: what a completion says: how its entry ended, what it was, and why it failed. */
#ifndef RDMA_BELLHOP_WC_H
#define RDMA_BELLHOP_WC_H

/* How an entry ended; the values are those of enum ibv_wc_status. */
enum bellhop_wc_status {
	BELLHOP_WC_SUCCESS = 0,
	BELLHOP_WC_LOC_LEN_ERR = 1,
	BELLHOP_WC_LOC_QP_OP_ERR = 2,
	BELLHOP_WC_LOC_PROT_ERR = 4,
	BELLHOP_WC_WR_FLUSH_ERR = 5,
	BELLHOP_WC_MW_BIND_ERR = 6,
	BELLHOP_WC_BAD_RESP_ERR = 7,
	BELLHOP_WC_LOC_ACCESS_ERR = 8,
	BELLHOP_WC_REM_INV_REQ_ERR = 9,
	BELLHOP_WC_REM_ACCESS_ERR = 10,
	BELLHOP_WC_REM_OP_ERR = 11,
	BELLHOP_WC_RETRY_EXC_ERR = 12,
	BELLHOP_WC_RNR_RETRY_EXC_ERR = 13,
	BELLHOP_WC_FATAL_ERR = 19,
	BELLHOP_WC_TM_ERR = 22,
	BELLHOP_WC_TM_RNDV_INCOMPLETE = 23,
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
	BELLHOP_WC_TM_ADD = 130,
	BELLHOP_WC_TM_DEL = 131,
	BELLHOP_WC_TM_SYNC = 132,
	BELLHOP_WC_TM_RECV = 133,
	BELLHOP_WC_TM_NO_TAG = 134,
};

enum bellhop_wc_flags {
	BELLHOP_WC_GRH = 1 << 0, /* as IBV_WC_GRH: a datagram, behind BELLHOP_GRH_BYTES */
	BELLHOP_WC_WITH_IMM = 1 << 1, /* as IBV_WC_WITH_IMM */
	BELLHOP_WC_WITH_INV = 1 << 3, /* as IBV_WC_WITH_INV */
	BELLHOP_WC_TM_SYNC_REQ = 1 << 4, /* tagged buffers wait for BELLHOP_TAG_SYNC */
	BELLHOP_WC_TM_MATCH = 1 << 5, /* a message has taken the buffer */
	BELLHOP_WC_TM_DATA_VALID = 1 << 6, /* and its payload is there */
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
	/* What a responder at another host says: it alone knows more. */
	BELLHOP_REASON_NAK_INVALID_REQUEST = 112,
	BELLHOP_REASON_NAK_ACCESS = 113,
	BELLHOP_REASON_NAK_OPERATIONAL = 114,
	BELLHOP_REASON_BAD_RESPONSE = 115, /* it answers what it was not asked */
};

#endif /* RDMA_BELLHOP_WC_H */
