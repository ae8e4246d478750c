// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// context.cpp: opens and closes devices.
#include "context.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include "operations.hpp"

namespace bellhop
{

namespace
{

int open_context(Context *context) noexcept
{
	Request<ib_uverbs_get_context> request{};
	Response<ib_uverbs_get_context_resp, bellhop_alloc_ucontext_resp> response{};
	int error = ibv_cmd_get_context(context, &request, sizeof(request),
#if BELLHOP_PABI >= 65
					nullptr,
#endif
					response.core(), sizeof(response));

	if (error)
		return error;
	int cmd_fd = context->context.cmd_fd;
	auto &own = context->own;

	auto status = response.driver();

	error = own.status.map(cmd_fd, status.status_offset, status.status_length, PROT_READ);
	if (error)
		return error;
	if (!own.status.memory())
		return EPROTO;
	own.kick.watch(static_cast<const bellhop_status *>(own.status.memory()));
	return own.kick.open(cmd_fd);
}

void close_context(Context *context) noexcept
{
	std::destroy_at(&context->own);
	verbs_uninit_context(context);
	std::free(context);
}

} // namespace

verbs_context *alloc_context(ibv_device *device, int cmd_fd, void *) noexcept
{
	// A null offset: the base is at the beginning.
	auto *context = static_cast<Context *>(_verbs_init_and_alloc_context(
		device, cmd_fd, sizeof(Context), nullptr, BELLHOP_DRIVER_ID));

	if (!context)
		return nullptr;
	std::construct_at(&context->own);
	if (int error = open_context(context)) {
		close_context(context);
		errno = error;
		return nullptr;
	}
	verbs_set_ops(context, &OPERATIONS);
	return context;
}

void free_context(ibv_context *context) noexcept
{
	close_context(Context::of(context));
}

} // namespace bellhop
