// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// qp_table.hpp: a context's QPs by number.
//
// Completions name their QP by its number, 24 bits wide. Two levels of 12 bits: the leaves
// exist only while there are QPs in them. A lookup takes no lock. It cannot meet a leaf that
// is being freed, because a QP leaves the table only after its last completion has left its
// CQs (queue_pair.cpp), and only completions are looked up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include "heap.hpp"
#include "mutex.hpp"

namespace bellhop
{

class QueuePair;

class QpTable
{
public:
	QpTable() noexcept = default;
	QpTable(const QpTable &) = delete;
	QpTable &operator=(const QpTable &) = delete;

	~QpTable()
	{
		for (auto &leaf : leaves_)
			dispose(leaf.load(std::memory_order_relaxed));
	}

	// The QP of that number, or null. Any 32-bit value is fine.
	QueuePair *find(std::uint32_t qpn) const noexcept
	{
		if (qpn >> (2 * LEVEL_BITS))
			return nullptr;
		const Leaf *leaf = leaves_[qpn >> LEVEL_BITS].load(std::memory_order_acquire);

		return leaf ? leaf->qps[qpn & LEVEL_MASK].load(std::memory_order_acquire) : nullptr;
	}

	// Adds a QP. Returns false without memory, or for a number beyond 24 bits.
	bool insert(std::uint32_t qpn, QueuePair *qp) noexcept
	{
		std::lock_guard guard(changes_);

		if (qpn >> (2 * LEVEL_BITS))
			return false;
		auto &root = leaves_[qpn >> LEVEL_BITS];
		Leaf *leaf = root.load(std::memory_order_relaxed);

		if (!leaf) {
			leaf = make<Leaf>().release();
			if (!leaf)
				return false;
			root.store(leaf, std::memory_order_release);
		}
		leaf->qps[qpn & LEVEL_MASK].store(qp, std::memory_order_release);
		leaf->used++;
		return true;
	}

	// Takes out a QP that was inserted and has no completions left.
	void erase(std::uint32_t qpn) noexcept
	{
		std::lock_guard guard(changes_);
		auto &root = leaves_[qpn >> LEVEL_BITS];
		Leaf *leaf = root.load(std::memory_order_relaxed);

		leaf->qps[qpn & LEVEL_MASK].store(nullptr, std::memory_order_relaxed);
		if (--leaf->used)
			return;
		root.store(nullptr, std::memory_order_relaxed);
		dispose(leaf);
	}

private:
	static constexpr unsigned LEVEL_BITS = 12;
	static constexpr std::uint32_t LEVEL_MASK = (1U << LEVEL_BITS) - 1;

	struct Leaf {
		std::array<std::atomic<QueuePair *>, 1U << LEVEL_BITS> qps{};
		unsigned used = 0; // under changes_
	};

	Mutex changes_;
	std::array<std::atomic<Leaf *>, 1U << LEVEL_BITS> leaves_{};
};

} // namespace bellhop
