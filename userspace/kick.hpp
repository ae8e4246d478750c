// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// kick.hpp: asks the kernel to execute a QP, when it would not see the work by itself.
#pragma once

#include <cstdint>
#include <rdma/bellhop-abi.h>
#include <unistd.h>
#include "ring.hpp"

namespace bellhop
{

class Kick
{
public:
	Kick() noexcept = default;
	Kick(const Kick &) = delete;
	Kick &operator=(const Kick &) = delete;
	~Kick();

	// cmd_fd: the uverbs file of the context that the QPs belong to. Returns 0 or an errno.
	int open(int cmd_fd) noexcept;

	// The context's status page; must outlive this object.
	void watch(const bellhop_status *status) noexcept
	{
		status_ = status;
	}

	// Whether posted sends need a kick; call fence_before_kick() first.
	bool is_needed() const noexcept
	{
		return load_shared(status_->need_kick, std::memory_order_relaxed);
	}

	// Executes what is posted on a QP. It may take as long as the work does, so the queue's
	// lock must not be held. What fails here shows as an asynchronous event.
	void run(std::uint32_t qpn) const noexcept
	{
		lseek(fd_, static_cast<off_t>(qpn), SEEK_SET);
	}

	// The device's clock; negative, with errno set, when the device is gone.
	std::int64_t clock() const noexcept
	{
		return lseek(fd_, 0, SEEK_CUR);
	}

private:
	const bellhop_status *status_ = nullptr;
	int fd_ = -1;
};

} // namespace bellhop
