// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ioctls.hpp: sound calls of the uverbs ioctl() interface, to be spoilt.
#ifndef BELLHOP_VM_IOCTLS_HPP
#define BELLHOP_VM_IOCTLS_HPP

#include "writes.hpp"
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

namespace vm
{

/** A call as it is handed to ioctl(): a head and its attributes. */
struct Call {
	/* ib_uverbs_ioctl_hdr, which ends in an array of no length. */
	struct Head {
		uint16_t length;
		uint16_t object_id;
		uint16_t method_id;
		uint16_t num_attrs;
		uint64_t reserved1;
		uint32_t driver_id;
		uint32_t reserved2;
	};
	static_assert(sizeof(Head) == sizeof(ib_uverbs_ioctl_hdr));

	Head head = {};
	std::vector<ib_uverbs_attr> attrs = {};
	int makes = -1; /* an ObjectKind: the first attribute becomes its handle */

	/** Head and attributes in one piece. */
	std::vector<uint8_t> bytes() const
	{
		std::vector<uint8_t> all(sizeof(head) + attrs.size() * sizeof(attrs[0]));

		std::memcpy(all.data(), &head, sizeof(head));
		if (!attrs.empty())
			std::memcpy(all.data() + sizeof(head), attrs.data(),
				    all.size() - sizeof(head));
		return all;
	}
};

/** Makes sound calls. */
class Calls
{
public:
	enum Kind {
		kick_alloc,
		cq_create,
		cq_destroy,
		qp_create,
		qp_destroy,
		mr_query,
		mr_destroy,
		pd_destroy,
		info_handles,
		query_port,
		query_context,
		gid_table,
		gid_entry,
		async_alloc,
		invoke_write,
		datagram_qp_create,
		datagram_qp_destroy,
		kernel_qp_create,
		ah_create,
		ah_destroy,
		dm_alloc,
		dm_query,
		dm_register,
		dm_free,
		dmabuf_register,
		unknown,
		kinds
	};

	explicit Calls(const Handles &handles) : handles_(handles) {}

	/** Where behind the answers the caller writes what some calls refer to. */
	static constexpr size_t cap_at = 4096, address_handle_at = 4608;

	/** @out: where answers go, in pieces of 512 bytes; 8 KiB. */
	Call make(Kind kind, std::mt19937 &random, uint64_t out) const
	{
		switch (kind) {
		case kick_alloc:
			return call(BELLHOP_OBJECT_KICK, BELLHOP_METHOD_KICK_ALLOC,
				    { fresh(BELLHOP_ATTR_KICK_ALLOC_FD) });
		case cq_create:
			return call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
				    { fresh(UVERBS_ATTR_CREATE_CQ_HANDLE),
				      value(UVERBS_ATTR_CREATE_CQ_CQE, 4, 1 + random() % 256),
				      value(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, random()),
				      value(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
				      at(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, out),
				      at(UVERBS_ATTR_UHW_OUT, sizeof(bellhop_create_cq_resp),
					 out + 512) },
				    cq_object);
		case cq_destroy:
			return call(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
				    { some(UVERBS_ATTR_DESTROY_CQ_HANDLE, cq_object, random),
				      at(UVERBS_ATTR_DESTROY_CQ_RESP,
					 sizeof(ib_uverbs_destroy_cq_resp), out) });
		case qp_create:
			return create_qp(IB_UVERBS_QPT_RC, qp_object, random, out);
		case qp_destroy:
			return destroy_qp(qp_object, random, out);
		case datagram_qp_create:
			return create_qp(IB_UVERBS_QPT_UD, datagram_qp_object, random, out);
		case datagram_qp_destroy:
			return destroy_qp(datagram_qp_object, random, out);
		case kernel_qp_create:
			/* QPs 0 and 1 are the kernel's own. */
			return create_qp(random() % 2, -1, random, out);
		case ah_create:
			return invoke(IB_USER_VERBS_CMD_CREATE_AH,
				      reinterpret_cast<const void *>(out + address_handle_at),
				      sizeof(ib_uverbs_create_ah), out,
				      sizeof(ib_uverbs_create_ah_resp));
		case ah_destroy:
			return call(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY,
				    { some(UVERBS_ATTR_DESTROY_AH_HANDLE, ah_object, random) });
		case mr_query:
			return call(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR,
				    { some(UVERBS_ATTR_QUERY_MR_HANDLE, mr_object, random),
				      at(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, out),
				      at(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, out + 512),
				      at(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, out + 1024),
				      at(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, out + 1536) });
		case mr_destroy:
			return call(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
				    { some(UVERBS_ATTR_DESTROY_MR_HANDLE, mr_object, random) });
		case pd_destroy:
			return call(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				    { some(UVERBS_ATTR_DESTROY_PD_HANDLE, pd_object, random) });
		case dm_alloc:
			return call(
				UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
				{ fresh(UVERBS_ATTR_ALLOC_DM_HANDLE),
				  value(UVERBS_ATTR_ALLOC_DM_LENGTH, 8, 1 + random() % 16384),
				  value(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, random() % 13),
				  at(BELLHOP_ATTR_ALLOC_DM_RESP, sizeof(bellhop_dm_resp), out) },
				dm_object);
		case dm_query:
			return call(
				UVERBS_OBJECT_DM, BELLHOP_METHOD_DM_QUERY,
				{ some(BELLHOP_ATTR_QUERY_DM_HANDLE, dm_object, random),
				  at(BELLHOP_ATTR_QUERY_DM_RESP, sizeof(bellhop_dm_resp), out) });
		case dm_register:
			return call(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG,
				    { fresh(UVERBS_ATTR_REG_DM_MR_HANDLE),
				      value(UVERBS_ATTR_REG_DM_MR_OFFSET, 8, random() % 64),
				      value(UVERBS_ATTR_REG_DM_MR_LENGTH, 8, random() % 512),
				      some(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd_object, random),
				      value(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 4,
					    7 | IB_UVERBS_ACCESS_ZERO_BASED),
				      some(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm_object, random),
				      at(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4, out),
				      at(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4, out + 512) },
				    mr_object);
		case dm_free:
			return call(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE,
				    { some(UVERBS_ATTR_FREE_DM_HANDLE, dm_object, random) });
		case dmabuf_register:
			/* None of the process's files is exported memory. */
			return call(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR,
				    { fresh(UVERBS_ATTR_REG_DMABUF_MR_HANDLE),
				      some(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd_object, random),
				      value(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, 0),
				      value(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 4096),
				      value(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, 0),
				      value(UVERBS_ATTR_REG_DMABUF_MR_FD, 4, random() % 200),
				      value(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, 7),
				      at(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, out),
				      at(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, out + 512) },
				    mr_object);
		case info_handles:
			return call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES,
				    { value(UVERBS_ATTR_INFO_OBJECT_ID, 8, UVERBS_OBJECT_QP),
				      at(UVERBS_ATTR_INFO_TOTAL_HANDLES, 4, out),
				      at(UVERBS_ATTR_INFO_HANDLES_LIST, 512, out + 512) });
		case query_port:
			return call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT,
				    { value(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, 1),
				      at(UVERBS_ATTR_QUERY_PORT_RESP,
					 sizeof(ib_uverbs_query_port_resp_ex), out) });
		case query_context:
			return call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
				    { at(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4, out),
				      at(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8, out + 512) });
		case gid_table:
			return call(
				UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE,
				{ value(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 8,
					sizeof(ib_uverbs_gid_entry)),
				  value(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4, 0),
				  at(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
				     8 * sizeof(ib_uverbs_gid_entry), out),
				  at(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8, out + 512) });
		case gid_entry:
			return call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY,
				    { value(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 8, 1),
				      value(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 8, 0),
				      value(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, 0),
				      at(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
					 sizeof(ib_uverbs_gid_entry), out) });
		case async_alloc:
			return call(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
				    { fresh(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE) });
		case invoke_write:
			return invoke(IB_USER_VERBS_CMD_ALLOC_PD,
				      reinterpret_cast<const void *>(out + 512),
				      sizeof(ib_uverbs_alloc_pd), out,
				      sizeof(ib_uverbs_alloc_pd_resp));
		default:
			return noise(random, out);
		}
	}

	/** A command of the write() interface, by ioctl(). */
	static Call invoke(uint32_t number, const void *body, size_t length, uint64_t out = 0,
			   size_t out_length = 0)
	{
		std::vector<ib_uverbs_attr> attrs = { at(UVERBS_ATTR_CORE_IN, length,
							 reinterpret_cast<uintptr_t>(body)),
						      value(UVERBS_ATTR_WRITE_CMD, 8, number) };

		if (out_length)
			attrs.push_back(at(UVERBS_ATTR_CORE_OUT, out_length, out));
		return call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, attrs);
	}

private:
	static Call call(uint16_t object, uint16_t method, std::vector<ib_uverbs_attr> attrs,
			 int makes = -1)
	{
		Call call;

		call.head.object_id = object;
		call.head.method_id = method;
		call.head.driver_id = BELLHOP_DRIVER_ID;
		call.head.num_attrs = static_cast<uint16_t>(attrs.size());
		call.head.length =
			static_cast<uint16_t>(sizeof(call.head) + attrs.size() * sizeof(attrs[0]));
		call.attrs = std::move(attrs);
		call.makes = makes;
		return call;
	}

	static ib_uverbs_attr attr(unsigned id, uint16_t length, uint64_t data)
	{
		ib_uverbs_attr attr = {};

		attr.attr_id = static_cast<uint16_t>(id);
		attr.len = length;
		attr.flags = UVERBS_ATTR_F_MANDATORY;
		attr.data = data;
		return attr;
	}

	/* An object or a file that the call makes. */
	static ib_uverbs_attr fresh(unsigned id)
	{
		return attr(id, 0, 0);
	}

	/* An integer in place. */
	static ib_uverbs_attr value(unsigned id, uint16_t length, uint64_t data)
	{
		return attr(id, length, data);
	}

	static ib_uverbs_attr at(unsigned id, size_t length, uint64_t address)
	{
		return attr(id, static_cast<uint16_t>(length), address);
	}

	ib_uverbs_attr some(unsigned id, ObjectKind kind, std::mt19937 &random) const
	{
		return attr(id, 0, handles_.some(kind, random));
	}

	Call destroy_qp(ObjectKind kind, std::mt19937 &random, uint64_t out) const
	{
		return call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,
			    { some(UVERBS_ATTR_DESTROY_QP_HANDLE, kind, random),
			      at(UVERBS_ATTR_DESTROY_QP_RESP, sizeof(ib_uverbs_destroy_qp_resp),
				 out) });
	}

	Call create_qp(unsigned type, int makes, std::mt19937 &random, uint64_t out) const
	{
		return call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
			    { fresh(UVERBS_ATTR_CREATE_QP_HANDLE),
			      some(UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd_object, random),
			      some(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq_object, random),
			      some(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq_object, random),
			      value(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, random()),
			      at(UVERBS_ATTR_CREATE_QP_CAP, sizeof(ib_uverbs_qp_cap), out + cap_at),
			      value(UVERBS_ATTR_CREATE_QP_TYPE, 8, type),
			      at(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(ib_uverbs_qp_cap), out),
			      at(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4, out + 512),
			      at(UVERBS_ATTR_UHW_OUT, sizeof(bellhop_create_qp_resp), out + 1024) },
			    makes);
	}

	/* Objects, methods and attributes that there may be. */
	Call noise(std::mt19937 &random, uint64_t out) const
	{
		std::vector<ib_uverbs_attr> attrs;
		const size_t count = random() % 12;

		for (size_t i = 0; i < count; i++) {
			const unsigned id = i + (random() % 4 ? 0 : random() % 4) +
					    (random() % 8 ? 0 : UVERBS_UDATA_DRIVER_DATA_FLAG);

			attrs.push_back(random() % 2 ? at(id, random() % 64, out)
						     : attr(id, random() % 9,
							    handles_.some(pd_object, random)));
		}
		return call(random() % 18, random() % 8, attrs);
	}

	const Handles &handles_;
};

} // namespace vm

#endif
