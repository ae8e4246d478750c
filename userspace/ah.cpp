// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ah.cpp: makes and destroys address handles.
#include "ah.hpp"

#include <cerrno>
#include "address.hpp"
#include "heap.hpp"

namespace bellhop
{

ibv_ah *create_ah(ibv_pd *pd, ibv_ah_attr *attr) noexcept
{
	auto ah = make<AddressHandle>(*attr);
	ib_uverbs_create_ah_resp response{};
	int error =
		!ah ? ENOMEM : ibv_cmd_create_ah(pd, ah.get(), attr, &response, sizeof(response));

	if (error) {
		errno = error;
		return nullptr;
	}
	return ah.release();
}

int destroy_ah(ibv_ah *ah) noexcept
{
	if (int error = ibv_cmd_destroy_ah(ah))
		return error;
	dispose(AddressHandle::of(ah));
	return 0;
}

} // namespace bellhop
