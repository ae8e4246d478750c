// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// xrc_domain.cpp: XRC domains.
#include "xrc_domain.hpp"

#include <cerrno>
#include "heap.hpp"

namespace bellhop
{

ibv_xrcd *open_xrcd(ibv_context *context, ibv_xrcd_init_attr *attr) noexcept
{
	auto domain = make<verbs_xrcd>();
	Request<ib_uverbs_open_xrcd> request{};
	ib_uverbs_open_xrcd_resp response{};
	int error =
		!domain ? ENOMEM
			: ibv_cmd_open_xrcd(context, domain.get(), sizeof(verbs_xrcd), attr,
					    &request, sizeof(request), &response, sizeof(response));

	if (error) {
		errno = error;
		return nullptr;
	}
	return &domain.release()->xrcd;
}

int close_xrcd(ibv_xrcd *xrcd) noexcept
{
	auto *domain = reinterpret_cast<verbs_xrcd *>(xrcd);

	if (int error = ibv_cmd_close_xrcd(domain))
		return error;
	dispose(domain);
	return 0;
}

} // namespace bellhop
