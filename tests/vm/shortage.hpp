// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// shortage.hpp: many of a thread's allocations fail, so that those that are tried again in another
// way fail as well (Documentation/fault-injection of the kernel).
#ifndef BELLHOP_VM_SHORTAGE_HPP
#define BELLHOP_VM_SHORTAGE_HPP

#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>
#include "ktap.hpp"
#include "trial.hpp"

namespace vm
{

/** A shortage that the calling thread alone meets. */
class Shortage
{
public:
	/** Of what: the parts of the kernel's fault injection. */
	using Of = std::vector<std::string>;

	explicit Shortage(const Of &of)
	    : of_(of), file_(open("/proc/thread-self/make-it-fail", O_WRONLY | O_CLOEXEC))
	{
		require_errno(file_ >= 0, "make-it-fail");
		for (const std::string &one : of_) {
			write(one, "task-filter", "Y");
			write(one, "interval", "1");
		}
	}

	~Shortage()
	{
		end();
		for (const std::string &one : of_)
			write(one, "task-filter", "N");
		close(file_);
	}

	Shortage(const Shortage &) = delete;
	Shortage &operator=(const Shortage &) = delete;

	/** From now on so many of a hundred allocations fail. */
	void begin(unsigned percent) const
	{
		for (const std::string &one : of_) {
			write(one, "times", std::to_string(plenty));
			write(one, "probability", std::to_string(percent));
		}
		mark("1");
	}

	/** No allocation fails any more. Returns how many have since it began. */
	unsigned end() const
	{
		unsigned failed = 0;

		mark("0");
		for (const std::string &one : of_) {
			int64_t left = plenty;

			std::ifstream(path(one, "times")) >> left;
			failed += static_cast<unsigned>(plenty - left);
			write(one, "probability", "0");
			write(one, "times", std::to_string(plenty));
		}
		return failed;
	}

private:
	static constexpr int64_t plenty = 1 << 30;

	static std::string path(const std::string &of, const std::string &knob)
	{
		return "/sys/kernel/debug/" + of + "/" + knob;
	}

	static void write(const std::string &of, const std::string &knob, const std::string &value)
	{
		std::ofstream file(path(of, knob));

		require(bool(file << value << std::flush), of + "/" + knob);
	}

	void mark(const char *text) const
	{
		require_errno(pwrite(file_, text, 1, 0) == 1, "make-it-fail");
	}

	Of of_;
	int file_;
};

/**
 * Tries a verb during shortages of each kind. @needs: it must be refused when there is nothing at
 * all, be it small pieces of memory or whole pages.
 */
inline void squeeze(const std::string &verb, const Trial &trial, bool needs)
{
	const Shortage::Of pieces = { "failslab" }, pages = { "fail_page_alloc" },
			   both = { "failslab", "fail_page_alloc" };
	unsigned tries = 0, faults = 0, refusals = 0;

	for (const Shortage::Of &of : { pieces, pages, both }) {
		const Shortage shortage(of);
		Trier trier(verb, trial);

		for (unsigned percent : { 100, 50, 20, 5 }) {
			for (int i = 0; i < 8 && !testing::Test::HasFailure(); i++, tries++) {
				const Outcome outcome = trier.run(
					std::to_string(percent) + " % of " + of.front() +
						(of.size() > 1 ? " and " + of.back() : ""),
					[&] { shortage.begin(percent); },
					[&] {
						const unsigned failed = shortage.end();

						faults += failed;
						return failed > 0;
					},
					true);

				refusals += outcome.error != 0;
				EXPECT_TRUE(outcome.error || !needs || percent < 100)
					<< verb << " works without memory";
			}
		}
	}
	note("%6u faults in %4u tries, %4u refusals  %s", faults, tries, refusals, verb.c_str());
}

} // namespace vm

#endif
