// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// require.hpp: the exception that ends a test case when what it stands on is missing, and
// deadlines.
#ifndef BELLHOP_VM_REQUIRE_HPP
#define BELLHOP_VM_REQUIRE_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <stdexcept>
#include <string>

namespace vm
{

/**
 * Throws unless @holds; googletest reports it as the test case's failure. For set-up that
 * is not itself the claim; may be used in constructors and, behind std::async, in threads.
 */
inline void require(bool holds, const std::string &what,
		    std::source_location where = std::source_location::current())
{
	if (!holds)
		throw std::runtime_error(what + " (" + where.file_name() + ":" +
					 std::to_string(where.line()) + ")");
}

/** As require(), for calls that say why in errno. */
inline void require_errno(bool holds, const std::string &what,
			  std::source_location where = std::source_location::current())
{
	const int error = errno;

	require(holds, holds ? what : what + ": " + std::strerror(error), where);
}

/** BELLHOP_PATIENCE: how many times as long as usual everything may take, on a kernel that is slow.
 */
inline double slowness()
{
	const char *given = std::getenv("BELLHOP_PATIENCE");

	return std::max(given ? std::atof(given) : 1, 1.0);
}

/* What no healthy device needs, even under emulation on a busy machine. */
inline const double patience = 10 * slowness();

/** A point in time, some seconds from its construction. */
class Deadline
{
public:
	explicit Deadline(double seconds)
	    : end_(std::chrono::steady_clock::now() +
		   std::chrono::microseconds(static_cast<long>(seconds * 1e6)))
	{
	}

	bool passed() const
	{
		return std::chrono::steady_clock::now() >= end_;
	}

	/** Milliseconds that are left, for poll(); 0 when it has passed. */
	int left_ms() const
	{
		auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
			end_ - std::chrono::steady_clock::now());

		return left.count() > 0 ? static_cast<int>(left.count()) + 1 : 0;
	}

private:
	std::chrono::steady_clock::time_point end_;
};

} // namespace vm

#endif
