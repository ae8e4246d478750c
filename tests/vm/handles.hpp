// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// handles.hpp: the numbers that the kernel calls a process's objects by.
#ifndef BELLHOP_VM_HANDLES_HPP
#define BELLHOP_VM_HANDLES_HPP

#include <array>
#include <atomic>
#include <random>

namespace vm
{

/** The kinds of objects that have handles. */
enum ObjectKind {
	pd_object,
	mr_object,
	cq_object,
	qp_object, /* of connected ones */
	datagram_qp_object,
	ah_object,
	srq_object,
	dm_object,
	object_kinds
};

/** Handles that the kernel has given out, and need not be good any more. Any thread. */
class Handles
{
public:
	void add(ObjectKind kind, uint32_t handle)
	{
		places_[kind][next_++ % places_[kind].size()] = handle;
		given_[kind] = true;
	}

	/** From now on there is only this one. */
	void fill(ObjectKind kind, uint32_t handle)
	{
		for (std::atomic<uint32_t> &place : places_[kind])
			place = handle;
		given_[kind] = true;
	}

	/** Whether there was ever one; the kernel's own numbers begin with 0. */
	bool has_any(ObjectKind kind) const
	{
		return given_[kind];
	}

	/** One that was given out for such an object; now and then another's, or a guess. */
	uint32_t some(ObjectKind kind, std::mt19937 &random) const
	{
		const unsigned chance = random() % 64;

		if (chance == 0)
			return random();
		if (chance == 1)
			return random() % 64;
		if (chance == 2)
			kind = static_cast<ObjectKind>(random() % object_kinds);
		return places_[kind][random() % places_[kind].size()];
	}

private:
	std::array<std::array<std::atomic<uint32_t>, 8>, object_kinds> places_ = {};
	std::array<std::atomic<bool>, object_kinds> given_ = {};
	std::atomic<uint32_t> next_ = 0;
};

} // namespace vm

#endif
