// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// mutex.hpp: a lock for what is rare and may allocate.
#pragma once

#include <pthread.h>

namespace bellhop
{

// For std::lock_guard. std::mutex would report errors, which this use cannot have, by a call
// into the C++ runtime.
class Mutex
{
public:
	Mutex() noexcept = default;
	Mutex(const Mutex &) = delete;
	Mutex &operator=(const Mutex &) = delete;
	~Mutex()
	{
		pthread_mutex_destroy(&mutex_);
	}

	void lock() noexcept
	{
		pthread_mutex_lock(&mutex_);
	}
	void unlock() noexcept
	{
		pthread_mutex_unlock(&mutex_);
	}

private:
	pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

} // namespace bellhop
