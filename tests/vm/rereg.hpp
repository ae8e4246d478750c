// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// rereg.hpp: changes of a memory region.
#ifndef BELLHOP_VM_REREG_HPP
#define BELLHOP_VM_REREG_HPP

#include "request.hpp"

namespace vm
{

inline constexpr int translation = IBV_REREG_MR_CHANGE_TRANSLATION;
inline constexpr int domain = IBV_REREG_MR_CHANGE_PD;
inline constexpr int access_flags = IBV_REREG_MR_CHANGE_ACCESS;

/* What a region is to be from now on. */
struct Rereg {
	int flags;
	ibv_pd *pd = nullptr;
	const Memory *memory = nullptr;
	int access = 0;
};

/* Returns 0, or one of enum ibv_rereg_mr_err_code. */
inline int rereg(ibv_mr *mr, const Rereg &to)
{
	return ibv_rereg_mr(mr, to.flags, to.pd, to.memory ? to.memory->data() : nullptr,
			    to.memory ? to.memory->size() : 0, to.access);
}

} // namespace vm

#endif
