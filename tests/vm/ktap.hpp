// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// ktap.hpp: googletest's results as KTAP version 1, and the exit status that goes with them.
#ifndef BELLHOP_VM_KTAP_HPP
#define BELLHOP_VM_KTAP_HPP

#include <cstdarg>
#include <cstdio>
#include <sstream>
#include <string>
#include <gtest/gtest.h>

namespace vm
{

/** Prints @text as diagnostics, each of its lines behind "# ". Any thread. */
inline void note_text(const std::string &text)
{
	std::istringstream lines(text);
	std::string all, line;

	while (std::getline(lines, line))
		all += "# " + line + "\n";
	std::fputs(all.c_str(), stdout);
	std::fflush(stdout);
}

/** Prints a diagnostic, as printf() would. Any thread. */
[[gnu::format(printf, 1, 2)]] inline void note(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	std::vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	note_text(text);
}

class Ktap : public testing::EmptyTestEventListener
{
public:
	void OnTestProgramStart(const testing::UnitTest &program) override
	{
		std::printf("KTAP version 1\n1..%d\n", program.test_to_run_count());
		std::fflush(stdout);
	}

	void OnTestPartResult(const testing::TestPartResult &result) override
	{
		if (!result.failed())
			return;
		note("%s:%d:", result.file_name() ? result.file_name() : "?", result.line_number());
		note_text(result.message());
	}

	void OnTestEnd(const testing::TestInfo &test) override
	{
		const testing::TestResult &result = *test.result();

		number_++;
		std::printf("%s %d %s.%s", result.Failed() ? "not ok" : "ok", number_,
			    test.test_suite_name(), test.name());
		if (result.Skipped())
			std::printf(" # SKIP %s", reason(result).c_str());
		std::printf("\n");
		std::fflush(stdout);
		if (result.elapsed_time() >= 1000)
			note("%.1f s", static_cast<double>(result.elapsed_time()) / 1000);
	}

private:
	static std::string reason(const testing::TestResult &result)
	{
		for (int i = 0; i < result.total_part_count(); i++)
			if (result.GetTestPartResult(i).skipped())
				return first_line(result.GetTestPartResult(i).message());
		return "";
	}

	static std::string first_line(std::string text)
	{
		/* The message may begin with googletest's own word for it. */
		if (text.starts_with("Skipped\n"))
			text.erase(0, 8);
		return text.substr(0, text.find('\n'));
	}

	int number_ = 0;
};

/**
 * Runs all test cases. Takes main()'s arguments, googletest's options among them.
 * Returns main()'s result: 0, 1 when something failed, 4 when everything was skipped.
 */
inline int run_ktap(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	testing::UnitTest &program = *testing::UnitTest::GetInstance();
	testing::TestEventListeners &listeners = program.listeners();
	delete listeners.Release(listeners.default_result_printer());
	listeners.Append(new Ktap);

	if (RUN_ALL_TESTS() || !program.test_to_run_count())
		return 1;
	return program.successful_test_count() == program.skipped_test_count() ||
			       !program.successful_test_count()
		       ? 4
		       : 0;
}

} // namespace vm

#endif
