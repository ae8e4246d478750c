// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// called.hpp: the names of all calls that can be made of the device's file, how often each was
// made, and which of them the kernel refuses.
#ifndef BELLHOP_VM_CALLED_HPP
#define BELLHOP_VM_CALLED_HPP

#include "ioctls.hpp"
#include "tally.hpp"

namespace vm::called
{

/** What is counted: the sound commands and calls, each by its kind, and the others. */
enum {
	first_call = Commands::kinds,
	spoilt_writes = int(first_call) + int(Calls::kinds),
	spoilt_calls,
	mmaps,
	file_calls,
	closes,
	opens,
	kinds
};

inline Tally<kinds> &tally()
{
	static Tally<kinds> tally({ "write GET_CONTEXT",
				    "write QUERY_DEVICE",
				    "write QUERY_PORT",
				    "write ALLOC_PD",
				    "write DEALLOC_PD",
				    "write REG_MR",
				    "write REG_MR of nothing",
				    "write DEREG_MR",
				    "write CREATE_COMP_CHANNEL",
				    "write CREATE_CQ",
				    "write RESIZE_CQ to make a ring",
				    "write RESIZE_CQ to move there",
				    "write RESIZE_CQ to drop it",
				    "write DESTROY_CQ",
				    "write CREATE_QP",
				    "write QUERY_QP",
				    "write MODIFY_QP to INIT",
				    "write MODIFY_QP to RTR",
				    "write MODIFY_QP to RTS",
				    "write MODIFY_QP to RESET",
				    "write DESTROY_QP",
				    "write CREATE_QP of a UD QP",
				    "write MODIFY_QP of a UD QP to INIT",
				    "write MODIFY_QP of a UD QP to RTR",
				    "write MODIFY_QP of a UD QP to RTS",
				    "write MODIFY_QP of a UD QP to RESET",
				    "write DESTROY_QP of a UD QP",
				    "write ATTACH_MCAST",
				    "write DETACH_MCAST",
				    "write CREATE_QP of QP 0 or 1",
				    "write CREATE_AH",
				    "write DESTROY_AH",
				    "write CREATE_SRQ",
				    "write MODIFY_SRQ",
				    "write MODIFY_SRQ, make a ring",
				    "write MODIFY_SRQ, move there",
				    "write MODIFY_SRQ, drop it",
				    "write QUERY_SRQ",
				    "write DESTROY_SRQ",
				    "write POST_SEND",
				    "write POST_RECV",
				    "write POST_SRQ_RECV",
				    "write POLL_CQ",
				    "write REQ_NOTIFY_CQ",
				    "write EX QUERY_DEVICE",
				    "write EX CREATE_CQ",
				    "write EX CREATE_QP",
				    "write EX MODIFY_QP",
				    "write unknown",
				    "ioctl KICK_ALLOC",
				    "ioctl CQ_CREATE",
				    "ioctl CQ_DESTROY",
				    "ioctl QP_CREATE",
				    "ioctl QP_DESTROY",
				    "ioctl QUERY_MR",
				    "ioctl MR_DESTROY",
				    "ioctl PD_DESTROY",
				    "ioctl INFO_HANDLES",
				    "ioctl QUERY_PORT",
				    "ioctl QUERY_CONTEXT",
				    "ioctl QUERY_GID_TABLE",
				    "ioctl QUERY_GID_ENTRY",
				    "ioctl ASYNC_EVENT_ALLOC",
				    "ioctl INVOKE_WRITE",
				    "ioctl QP_CREATE of a UD QP",
				    "ioctl QP_DESTROY of a UD QP",
				    "ioctl QP_CREATE of QP 0 or 1",
				    "ioctl INVOKE_WRITE CREATE_AH",
				    "ioctl AH_DESTROY",
				    "ioctl DM_ALLOC",
				    "ioctl DM_QUERY",
				    "ioctl DM_MR_REG",
				    "ioctl DM_FREE",
				    "ioctl REG_DMABUF_MR of what is none",
				    "ioctl unknown",
				    "spoilt writes",
				    "spoilt ioctls",
				    "mmaps",
				    "calls on any file",
				    "closes",
				    "contexts opened" });
	return tally;
}

/** Of the device's own choice, or because nobody knows it. */
inline bool may_be_refused(size_t kind)
{
	return kind == Commands::unknown || kind == size_t(first_call) + Calls::unknown ||
	       kind == size_t(first_call) + Calls::query_context;
}

/** What is the kernel's, what a user does in the rings, and what takes a file of another kind. */
inline bool is_refused(size_t kind)
{
	return kind == Commands::create_kernel_qp || kind == Commands::post_send ||
	       kind == Commands::post_recv || kind == Commands::post_srq_recv ||
	       kind == Commands::poll_cq || kind == Commands::req_notify_cq ||
	       kind == size_t(first_call) + Calls::kernel_qp_create ||
	       kind == size_t(first_call) + Calls::dmabuf_register;
}

} // namespace vm::called

#endif
