// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// queue_pair.hpp: queue pairs.
#pragma once

#include "mapping.hpp"
#include "pd.hpp"
#include "recv_queue.hpp"
#include "send_queue.hpp"
#include "verbs_abi.hpp"

namespace bellhop
{

class QueuePair : public verbs_qp
{
public:
	// is_locked: more than one thread may post; domain: where it is made, null for nowhere.
	// verbs_qp{} sets all of the base; clang-tidy follows its union only.
	// NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
	explicit QueuePair(bool is_locked, ibv_pd *domain = nullptr) noexcept
	    : verbs_qp{}, domain_(domain), is_locked_(is_locked)
	{
	}

	static QueuePair *of(ibv_qp *qp) noexcept
	{
		return static_cast<QueuePair *>(reinterpret_cast<verbs_qp *>(qp));
	}
	static QueuePair *of(ibv_qp_ex *qp) noexcept
	{
		return of(&qp->qp_base);
	}

	bool is_locked() const noexcept
	{
		return is_locked_;
	}

	// Maps the rings of a QP that the kernel has just made. Returns 0 or an errno.
	int attach(const bellhop_create_qp_resp &rings, const ibv_qp_cap &cap) noexcept;

	// The kernel has moved the QP to this state.
	void enter(ibv_qp_state state) noexcept;

	// Whether there are any by its number; a target QP's are those of SRQs, and one's that is
	// spread those of receive work queues.
	bool has_completions() const noexcept
	{
		return qp.send_cq || qp.recv_cq;
	}

	// What a program has named for a queue that the QP does not have is none of its own.
	void forget_absent() noexcept;

	// No further completion of the QP will come: takes those that are there out of its CQs.
	void remove_completions() noexcept;

private:
	DomainUse domain_; // the queues' memory can be from it
	bool is_locked_;

public:
	SendQueue send;
	RecvQueue recv;

private:
	Mapping send_mapping_;
	Mapping recv_mapping_;
};

// Operations of libibverbs. Those that create return null and set errno; the others return 0
// or an errno.
ibv_qp *create_qp(ibv_pd *pd, ibv_qp_init_attr *attr) noexcept;
ibv_qp *create_qp_ex(ibv_context *context, ibv_qp_init_attr_ex *attr) noexcept;
ibv_qp *open_qp(ibv_context *context, ibv_qp_open_attr *attr) noexcept;
int modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask) noexcept;
int query_qp(ibv_qp *qp, ibv_qp_attr *attr, int attr_mask, ibv_qp_init_attr *init_attr) noexcept;
int destroy_qp(ibv_qp *qp) noexcept;
int post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad_wr) noexcept;
int post_recv(ibv_qp *qp, ibv_recv_wr *wr, ibv_recv_wr **bad_wr) noexcept;

} // namespace bellhop
