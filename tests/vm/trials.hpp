// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// trials.hpp: trials of verbs that destroy and change objects, whatever makes them fail.
#ifndef BELLHOP_VM_TRIALS_HPP
#define BELLHOP_VM_TRIALS_HPP

#include "loopback.hpp"
#include "raw.hpp"
#include "trial.hpp"

namespace vm
{

/**
 * The kernel answers when an object of this @kind is gone. An answer that cannot be written
 * makes it an error all the same, after which the library keeps its part of the object:
 * nobody but this test has no room for an answer, so it is removed here.
 */
inline Trial destroying(const std::string &kind, const std::function<void()> &create,
			const std::function<int()> &destroy)
{
	struct Before {
		std::vector<Mapping> maps;
		uint64_t count;
	};
	const auto before = std::make_shared<Before>();
	const uint32_t index = rdma_index(device_name()).value();

	return { .prepare =
			 [=] {
				 before->maps = new_mappings(create);
				 before->count = rdma_objects(index)[kind];
			 },
		 .call = destroy,
		 .settle =
			 [=](int error, bool) {
				 if (error != EFAULT || rdma_objects(index)[kind] == before->count)
					 return error;
				 for (const Mapping &map : before->maps)
					 EXPECT_EQ(munmap(map.start, map.length), 0);
				 return 0;
			 } };
}

/** One transition of a QP's: @before takes it there when it is reset; in RTS it @works. */
inline Trial changing(const Loopback &loop, const std::function<void()> &before,
		      const Change &change, const std::function<void()> &works)
{
	const auto old_state = std::make_shared<ibv_qp_state>();

	return { .prepare =
			 [=, &loop] {
				 ASSERT_EQ(loop.modify(to_state(IBV_QPS_RESET)), 0);
				 before();
				 *old_state = loop.state();
			 },
		 .call = [=, &loop] { return loop.modify(change); },
		 .refused = [=, &loop] { EXPECT_EQ(loop.state(), *old_state); },
		 .check =
			 [=, &loop] {
				 EXPECT_EQ(loop.state(), change.attr.qp_state);
				 if (change.attr.qp_state == IBV_QPS_RTS)
					 works();
			 } };
}

} // namespace vm

#endif
