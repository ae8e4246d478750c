// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// operations.hpp: the table of what bellhop answers itself.
#pragma once

#include "verbs_abi.hpp"

namespace bellhop
{

extern const verbs_context_ops OPERATIONS;

} // namespace bellhop
