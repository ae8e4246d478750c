// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// state_test.cpp: state.h: every state and every question.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

extern "C" {
#include "state.h"
}

namespace
{

struct Row {
	bellhop_qp_state state;
	ibv_qp_state verbs;
	bool sends, responds, flushes, flushes_sends;
} const kRows[] = {
	{ BELLHOP_QPS_RESET, IBV_QPS_RESET, false, false, false, false },
	{ BELLHOP_QPS_INIT, IBV_QPS_INIT, false, false, false, false },
	{ BELLHOP_QPS_RTR, IBV_QPS_RTR, false, true, false, false },
	{ BELLHOP_QPS_RTS, IBV_QPS_RTS, true, true, false, false },
	{ BELLHOP_QPS_SQD, IBV_QPS_SQD, false, true, false, false },
	{ BELLHOP_QPS_SQE, IBV_QPS_SQE, false, true, false, true },
	{ BELLHOP_QPS_ERR, IBV_QPS_ERR, false, false, true, true },
};

} // namespace

TEST(state, values__are_those_of_verbs)
{
	for (const Row &row : kRows)
		EXPECT_EQ(int(row.state), int(row.verbs));
}

TEST(state, sends__in_rts_only)
{
	for (const Row &row : kRows)
		EXPECT_EQ(bellhop_state_sends(row.state), row.sends) << row.state;
}

TEST(state, responds__from_rtr_until_error)
{
	for (const Row &row : kRows)
		EXPECT_EQ(bellhop_state_responds(row.state), row.responds) << row.state;
}

TEST(state, flushes__in_error_only)
{
	for (const Row &row : kRows)
		EXPECT_EQ(bellhop_state_flushes(row.state), row.flushes) << row.state;
}

TEST(state, flushes_sends__in_sqe_as_well)
{
	for (const Row &row : kRows)
		EXPECT_EQ(bellhop_state_flushes_sends(row.state), row.flushes_sends) << row.state;
}

TEST(state, after_send_error__only_what_is_not_reliable_goes_on_receiving)
{
	for (const Row &row : kRows) {
		for (bellhop_service service : { BELLHOP_SERVICE_RC, BELLHOP_SERVICE_XRC })
			EXPECT_EQ(bellhop_state_after_send_error(row.state, service),
				  BELLHOP_QPS_ERR);
		for (bellhop_service service : { BELLHOP_SERVICE_UC, BELLHOP_SERVICE_UD })
			EXPECT_EQ(bellhop_state_after_send_error(row.state, service),
				  row.flushes ? BELLHOP_QPS_ERR : BELLHOP_QPS_SQE)
				<< row.state;
	}
}
