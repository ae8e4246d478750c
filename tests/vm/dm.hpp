// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// dm.hpp: device memory, and regions of it.
#ifndef BELLHOP_VM_DM_HPP
#define BELLHOP_VM_DM_HPP

#include <vector>
#include "memory.hpp"

namespace vm
{

/** Returns NULL and sets errno. */
inline ibv_dm *alloc_dm(const Device &device, size_t length, uint32_t log_align = 0,
			uint32_t comp_mask = 0)
{
	ibv_alloc_dm_attr attr = { length, log_align, comp_mask };

	return ibv_alloc_dm(device.get(), &attr);
}

/** All that there is, in bytes. */
inline size_t dm_total(const Device &device)
{
	ibv_device_attr_ex attr = {};

	require(!ibv_query_device_ex(device.get(), nullptr, &attr), "ibv_query_device_ex");
	return attr.max_dm_size;
}

/** A piece of device memory. */
class Dm
{
public:
	Dm(const Device &device, size_t length) : Dm(alloc_dm(device, length), length) {}

	/** What was allocated already. */
	Dm(ibv_dm *made, size_t length) : dm_(made), length_(length)
	{
		require_errno(dm_, "ibv_alloc_dm");
	}

	~Dm()
	{
		if (dm_)
			ibv_free_dm(dm_);
	}

	Dm(const Dm &) = delete;
	Dm &operator=(const Dm &) = delete;

	/** Frees it now. Returns 0 or an errno, and then it is still there. */
	int release()
	{
		const int error = ibv_free_dm(dm_);

		if (!error)
			dm_ = nullptr;
		return error;
	}

	ibv_dm *get() const
	{
		return dm_;
	}

	/** All of it. */
	std::vector<uint8_t> bytes() const
	{
		std::vector<uint8_t> bytes(length_);

		require(!ibv_memcpy_from_dm(bytes.data(), dm_, 0, length_), "ibv_memcpy_from_dm");
		return bytes;
	}

	void write(uint64_t offset, std::span<const uint8_t> bytes) const
	{
		require(!ibv_memcpy_to_dm(dm_, offset, bytes.data(), bytes.size()),
			"ibv_memcpy_to_dm");
	}

	/** Noise that depends on @seed alone. Returns it. */
	std::vector<uint8_t> write_noise(uint64_t seed) const
	{
		std::vector<uint8_t> bytes(length_);

		fill(bytes, seed);
		write(0, bytes);
		return bytes;
	}

private:
	ibv_dm *dm_;
	size_t length_;
};

/** A region of it, whose addresses begin with 0. Returns NULL and sets errno. */
inline ibv_mr *reg_dm_mr(const Pd &pd, const Dm &dm, uint64_t offset, size_t length,
			 unsigned access = access_all | IBV_ACCESS_ZERO_BASED)
{
	return ibv_reg_dm_mr(pd.get(), dm.get(), offset, length, access);
}

} // namespace vm

#endif
