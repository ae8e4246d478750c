// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// writer.hpp: RDMA WRITEs that go on until one is refused.
#ifndef BELLHOP_VM_WRITER_HPP
#define BELLHOP_VM_WRITER_HPP

#include <atomic>
#include <future>
#include <thread>
#include "endpoint.hpp"
#include "request.hpp"

namespace vm
{

/** A thread that writes the same bytes to the same place, one request after the other. */
class Writer
{
public:
	/** Returns when one has succeeded. @end must outlive it. */
	Writer(const Endpoint &end, const ibv_sge &from, uint64_t address, uint32_t rkey)
	    : failure_(std::async(std::launch::async, [this, &end, from, address, rkey] {
		      for (;;) {
			      require(!post(end.qp, { .opcode = IBV_WR_RDMA_WRITE,
						      .sges = { from },
						      .remote = address,
						      .rkey = rkey }),
				      "ibv_post_send");
			      const ibv_wc wc = end.send_cq.next();
			      if (wc.status != IBV_WC_SUCCESS)
				      return wc;
			      writes_++;
		      }
	      }))
	{
		const Deadline deadline(patience);

		while (!writes_ && !deadline.passed())
			std::this_thread::yield();
	}

	/** Waits for its end. */
	ibv_wc failure()
	{
		return failure_.get();
	}

private:
	std::atomic<uint32_t> writes_ = 0;
	std::future<ibv_wc> failure_;
};

} // namespace vm

#endif
