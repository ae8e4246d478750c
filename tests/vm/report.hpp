// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// report.hpp: what a program says of itself in shared memory, since it may be killed at any moment.
#ifndef BELLHOP_VM_REPORT_HPP
#define BELLHOP_VM_REPORT_HPP

#include <atomic>
#include <cstdio>
#include <string>
#include <infiniband/verbs.h>

namespace vm
{

/** How a program's traffic ended. */
enum class Ending : uint32_t {
	none, /* it has not, or it was killed */
	stopped, /* it was told to */
	refused, /* it could not begin */
	broken, /* a completion failed */
	unplugged, /* the device is gone, and an event has said so */
	silent, /* neither a completion nor an event came */
	wrong, /* bytes, or what is left of it */
};

/** Written by the program, but for @stop. */
struct Report {
	std::atomic<bool> stop;
	std::atomic<bool> begun; /* both ends are connected */
	std::atomic<uint32_t> transfers; /* whose bytes were right */
	std::atomic<uint32_t> refusals; /* attempts to begin that failed */
	std::atomic<uint32_t> events; /* a bit for each ibv_event_type that came */
	std::atomic<Ending> ending;
	std::atomic<uint32_t> status; /* ibv_wc_status of what failed */
	char refusal[80]; /* the reason of the last one */

	void refuse(const char *reason)
	{
		std::snprintf(refusal, sizeof(refusal), "%s", reason);
		refusals++;
	}

	bool has_event(ibv_event_type type) const
	{
		return events & 1u << type;
	}

	std::string describe() const
	{
		static constexpr const char *names[] = { "runs",
							 "was stopped",
							 "was refused",
							 "has a failed completion",
							 "has lost its device",
							 "got no answer",
							 "went wrong" };
		const Ending how = ending;
		std::string text = names[static_cast<uint32_t>(how)];

		if (how == Ending::broken)
			text += std::string(" (") +
				ibv_wc_status_str(static_cast<ibv_wc_status>(status.load())) + ")";
		return text + ", " + (begun ? "begun, " : "") + std::to_string(transfers) +
		       " transfers, " + std::to_string(refusals) + " refusals" +
		       (refusals ? std::string(" (") + refusal + ")" : "") + ", events " +
		       std::to_string(events);
	}
};

} // namespace vm

#endif
