// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// context.cpp: opens and closes devices.
#include "context.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <rdma/ib_user_ioctl_cmds.h>
#include "method.hpp"
#include "operations.hpp"

namespace bellhop
{

namespace
{

// What a context of the kernel's tells about itself, whoever has made it.
int enter(Context *context, const bellhop_alloc_ucontext_resp &told) noexcept
{
	int cmd_fd = context->context.cmd_fd;
	auto &own = context->own;
	int error = own.status.map(cmd_fd, told.status_offset, told.status_length, PROT_READ);

	if (error)
		return error;
	if (!own.status.memory())
		return EPROTO;
	own.kick.watch(static_cast<const bellhop_status *>(own.status.memory()));
	return own.kick.open(cmd_fd);
}

int make_context(Context *context) noexcept
{
	Request<ib_uverbs_get_context> request{};
	Response<ib_uverbs_get_context_resp, bellhop_alloc_ucontext_resp> response{};
	int error = ibv_cmd_get_context(context, &request, sizeof(request),
#if BELLHOP_PABI >= 65
					nullptr,
#endif
					response.core(), sizeof(response));

	return error ? error : enter(context, response.driver());
}

// There is one on the file already.
int join_context(Context *context) noexcept
{
	bellhop_alloc_ucontext_resp told{};
	ib_uverbs_attr answer[] = { answer_attribute(BELLHOP_ATTR_QUERY_CONTEXT_RESP, told) };
	int error = ibv_cmd_query_context(&context->context, nullptr);

	if (error)
		return error;
	error = call_method(context->context.cmd_fd, UVERBS_OBJECT_DEVICE,
			    UVERBS_METHOD_QUERY_CONTEXT, answer);
	return error ? error : enter(context, told);
}

void close_context(Context *context) noexcept
{
	std::destroy_at(&context->own);
	verbs_uninit_context(context);
	std::free(context);
}

verbs_context *open_context(ibv_device *device, int cmd_fd, int (*begin)(Context *)) noexcept
{
	// A null offset: the base is at the beginning.
	auto *context = static_cast<Context *>(_verbs_init_and_alloc_context(
		device, cmd_fd, sizeof(Context), nullptr, BELLHOP_DRIVER_ID));

	if (!context)
		return nullptr;
	std::construct_at(&context->own);
	if (int error = begin(context)) {
		close_context(context);
		errno = error;
		return nullptr;
	}
	verbs_set_ops(context, &OPERATIONS);
	return context;
}

} // namespace

verbs_context *alloc_context(ibv_device *device, int cmd_fd, void *) noexcept
{
	return open_context(device, cmd_fd, make_context);
}

verbs_context *import_context(ibv_device *device, int cmd_fd) noexcept
{
	return open_context(device, cmd_fd, join_context);
}

void free_context(ibv_context *context) noexcept
{
	close_context(Context::of(context));
}

} // namespace bellhop
