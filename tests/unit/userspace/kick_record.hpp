// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// kick_record.hpp: the kicks that the library under test has made.
#pragma once

#include <cstdint>
#include <vector>

// The QP numbers, in order. Kicks are not executed: see kick_record.cpp.
std::vector<std::uint32_t> &kick_record();
