// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// endpoint.hpp: everything that one end of a connection needs, and two ends that are connected.
#ifndef BELLHOP_VM_ENDPOINT_HPP
#define BELLHOP_VM_ENDPOINT_HPP

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

	Pair(const QpShape &shape, const Path &path_a, const Path &path_b) : a(shape), b(shape)
	{
		b.qp.connect(a.qp.address(), path_b);
		a.qp.connect(b.qp.address(), path_a);
	}

	Endpoint a;
	Endpoint b;
};

} // namespace vm

#endif
