// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* stream.c: connections to other hosts: how they begin and end. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "device.h"
#include "gsi.h"
#include "port.h"
#include "qp.h"
#include "slot.h"
#include "socket.h"
#include "stream.h"

/* While the port is down nobody knows where a GID is; then the peer is taken for one of this host.
 */
static bool has_stream(const struct bellhop_qp *qp, const struct ib_qp_attr *attr)
{
	const union ib_gid *dgid = &rdma_ah_read_grh(&attr->ah_attr)->dgid;
	enum bellhop_service services = qp->send.limits.service | qp->recv.rules.service;
	bool found;

	if (!(services & (BELLHOP_SERVICE_RC | BELLHOP_SERVICE_UC)) || qp->recv.matches ||
	    !bellhop_socket_is_open(&qp->device->plug) || !bellhop_port_is_active(qp->device))
		return false;
	local_bh_disable();
	found = bellhop_gsi_find(qp->device, dgid);
	local_bh_enable();
	return !found;
}

static void set_path(struct bellhop_path *path, const struct bellhop_qp *qp,
		     const struct ib_qp_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);

	path->own_gid = grh->sgid_attr->gid;
	path->peer_gid = grh->dgid;
	path->sgid_index = grh->sgid_index;
	path->flow_label = grh->flow_label;
	path->hop_limit = grh->hop_limit;
	path->traffic_class = grh->traffic_class;
	path->peer_qpn = attr->dest_qp_num;
	path->source_port = rdma_get_udp_sport(grh->flow_label, qp->qpn, attr->dest_qp_num);
}

struct bellhop_stream *bellhop_stream_create(struct bellhop_qp *qp, const struct ib_qp_attr *attr,
					     int mask)
{
	u32 keep = mask & IB_QP_MAX_DEST_RD_ATOMIC
			   ? min_t(u32, attr->max_dest_rd_atomic, BELLHOP_MAX_RD_ATOMIC)
			   : 0;
	const int needed = IB_QP_AV | IB_QP_DEST_QPN | IB_QP_PATH_MTU | IB_QP_RQ_PSN;
	struct bellhop_stream *stream;

	if ((mask & needed) != needed || !(rdma_ah_get_ah_flags(&attr->ah_attr) & IB_AH_GRH) ||
	    !has_stream(qp, attr))
		return NULL;
	stream = kvzalloc(struct_size(stream, kept, keep), GFP_KERNEL);
	if (!stream)
		return ERR_PTR(-ENOMEM);
	set_path(&stream->path, qp, attr);
	skb_queue_head_init(&stream->answers);
	stream->requester.requests = stream->requests;
	stream->requester.depth = BELLHOP_STREAM_DEPTH;
	stream->requester.window = BELLHOP_STREAM_WINDOW;
	stream->requester.service = qp->send.limits.service;
	stream->requester.mtu = ib_mtu_enum_to_int(attr->path_mtu);
	stream->acceptor.service = qp->recv.rules.service;
	stream->acceptor.mtu = stream->requester.mtu;
	stream->acceptor.replies.queue = stream->replies;
	stream->acceptor.replies.depth = BELLHOP_STREAM_REPLIES;
	stream->acceptor.replies.kept = stream->kept;
	stream->acceptor.replies.keep = keep;
	return stream;
}

void bellhop_stream_destroy(struct bellhop_stream *stream)
{
	int i;

	if (!stream)
		return;
	skb_queue_purge(&stream->answers);
	for (i = 0; i < ARRAY_SIZE(stream->stash); i++)
		kfree_skb(stream->stash[i]);
	kvfree(stream);
}

void bellhop_stream_receive_from(struct bellhop_qp *qp, u32 psn)
{
	lockdep_assert_held(&qp->slot->lock);

	bellhop_acceptor_begin(&qp->stream->acceptor, psn);
}

void bellhop_stream_send_from(struct bellhop_qp *qp, u32 psn)
{
	struct bellhop_requester *requester = &qp->stream->requester;

	lockdep_assert_held(&qp->slot->lock);

	/* An atomic write counts as one, and need not be agreed upon. */
	requester->max_rd_atomic = max_t(u32, qp->send.max_rd_atomic, 1);
	requester->retry = qp->send.retry;
	bellhop_requester_begin(requester, psn);
}

void bellhop_stream_post(struct bellhop_qp *qp)
{
	const struct bellhop_send_wqe *wqe = &qp->send.wqe;
	struct bellhop_stream *stream = qp->stream;
	u32 place = bellhop_requester_post(&stream->requester, wqe->head.opcode, wqe->length,
					   wqe->head.flags);

	stream->wqes[place] = *wqe;
	stream->indices[place] = qp->send.index;
	qp->send.busy = false;
}
