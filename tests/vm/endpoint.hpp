// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// endpoint.hpp: everything that one end of a connection needs, and two ends that are connected.
#ifndef BELLHOP_VM_ENDPOINT_HPP
#define BELLHOP_VM_ENDPOINT_HPP

#include <gtest/gtest.h>
#include "qp.hpp"

namespace vm
{

/** A context of its own, so that each end sees only its own events. */
struct Endpoint {
	explicit Endpoint(const QpShape &shape = {}, int cqe = 256)
	    : pd(device), send_cq(device, cqe), recv_cq(device, cqe),
	      qp(device, pd.get(), send_cq, recv_cq, shape)
	{
	}

	Device device;
	Pd pd;
	Cq send_cq;
	Cq recv_cq;
	Qp qp;
};

/** Two connected ends of one process; a is the one that asks, if only one does. */
struct Pair {
	explicit Pair(const QpShape &shape = {}, const Path &path = {}) : Pair(shape, path, path) {}

	Pair(const QpShape &shape, const Path &path_a, const Path &path_b)
	    : a(shape), b(shape), path_a_(path_a), path_b_(path_b)
	{
		connect();
	}

	/** Whatever state they are in, they begin again. */
	void reconnect()
	{
		for (const Endpoint *end : { &a, &b })
			ASSERT_EQ(end->qp.modify(to_state(IBV_QPS_RESET)), 0);
		connect();
	}

	Endpoint a;
	Endpoint b;

private:
	void connect()
	{
		b.qp.connect(a.qp.address(), path_b_);
		a.qp.connect(b.qp.address(), path_a_);
	}

	const Path path_a_;
	const Path path_b_;
};

} // namespace vm

#endif
