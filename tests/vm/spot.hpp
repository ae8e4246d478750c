// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// spot.hpp: a region whose memory is unmapped, moved, protected, dropped, cut or shared, or is the
// device's own; and how often each was done.
#ifndef BELLHOP_VM_SPOT_HPP
#define BELLHOP_VM_SPOT_HPP

#include <memory>
#include "child.hpp"
#include "dm.hpp"
#include "mappings.hpp"
#include "tally.hpp"

namespace vm::spot
{

enum Kind {
	anonymous,
	shared,
	file,
	ring,
	device_memory,
	status_page,
	munmaps,
	mremaps,
	mprotects,
	dontneeds,
	truncations,
	holes,
	forks,
	deregistrations,
	changes,
	changes_to_nothing,
	canaries,
	transfers,
	datagrams,
	lost_datagrams,
	local_refusals,
	remote_refusals,
	kinds
};

inline Tally<kinds> &tally()
{
	static Tally<kinds> tally({ "regions of anonymous memory",
				    "regions of shared memory",
				    "regions of files",
				    "regions of rings",
				    "regions of device memory",
				    "writable regions of the status page",
				    "munmap()",
				    "mremap()",
				    "mprotect()",
				    "MADV_DONTNEED",
				    "ftruncate()",
				    "FALLOC_FL_PUNCH_HOLE",
				    "fork()",
				    "deregistrations",
				    "changes of regions",
				    "changes of regions to no memory",
				    "memory that was watched after its region went",
				    "transfers with success",
				    "datagrams that arrived",
				    "datagrams refused at an end",
				    "transfers refused for their lkey",
				    "transfers refused for the rkey" });
	return tally;
}

/** A region, and memory that need not be there as long as it is. */
class Spot
{
public:
	static constexpr size_t largest = 256 << 10;

	Spot(const Pd &pd, std::mt19937 &random)
	    : length((1 + random() % (largest >> 12)) << 12),
	      kind_(static_cast<Kind>(random() % (file + 1)))
	{
		if (kind_ == file) {
			file_ = memfd_create("hostile", 0);
			require_errno(file_ >= 0 && !ftruncate(file_, length), "memfd_create");
		}
		start = mmap(nullptr, length, PROT_READ | PROT_WRITE,
			     kind_ == file     ? MAP_SHARED
			     : kind_ == shared ? MAP_SHARED | MAP_ANONYMOUS
					       : MAP_PRIVATE | MAP_ANONYMOUS,
			     file_, 0);
		require_errno(start != MAP_FAILED, "mmap");
		place = reinterpret_cast<uintptr_t>(start);
		mr = std::make_unique<Mr>(pd, start, length);
		tally().count(kind_, true);
	}

	/* Pages of the device's own. */
	Spot(const Pd &pd, const Mapping &mapping)
	    : place(reinterpret_cast<uintptr_t>(mapping.start)), length(mapping.length), kind_(ring)
	{
		if (ibv_mr *made = ibv_reg_mr(pd.get(), mapping.start, length, access_all)) {
			ibv_dereg_mr(made);
			mr = std::make_unique<Mr>(pd, mapping.start, length);
		}
		tally().count(ring, bool(mr));
	}

	/* Device memory, as long as there is some left. */
	Spot(const Device &device, const Pd &pd, std::mt19937 &random)
	    : place(0), length((1 + random() % 4) << 12), kind_(device_memory)
	{
		if (ibv_dm *made = alloc_dm(device, length)) {
			dm = std::make_unique<Dm>(made, length);
			mr = std::make_unique<Mr>(reg_dm_mr(pd, *dm, 0, length));
		}
		tally().count(device_memory, bool(mr));
	}

	~Spot()
	{
		release();
		if (file_ >= 0)
			close(file_);
	}

	Spot(const Spot &) = delete;
	Spot &operator=(const Spot &) = delete;

	/* Its memory becomes something else. */
	void disturb(std::mt19937 &random)
	{
		if (!start)
			return;
		const size_t part = random() % 2 ? mapped_ : (1 + random() % (mapped_ >> 12)) << 12;

		switch (random() % 8) {
		case 0:
			mapped_ -= part;
			tally().count(munmaps,
				      !munmap(static_cast<uint8_t *>(start) + mapped_, part));
			start = mapped_ ? start : nullptr;
			intact_ = false;
			break;
		case 1:
			tally().count(mremaps, move());
			break;
		case 2:
			tally().count(mprotects, !mprotect(start, part, random() % 4));
			intact_ = false;
			break;
		case 3:
			tally().count(dontneeds, !madvise(start, part, MADV_DONTNEED));
			break;
		case 4:
			if (kind_ == file)
				tally().count(truncations, !ftruncate(file_, length - part));
			intact_ &= kind_ != file;
			break;
		case 5:
			if (kind_ == file)
				tally().count(holes,
					      !fallocate(file_,
							 FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
							 0, part));
			break;
		case 6:
			tally().count(forks, share_memory());
			break;
		default:
			usleep(random() % 1000);
		}
	}

	/* What lies where the region says that it is, is its own. */
	bool has_its_memory() const
	{
		return is_the_devices() || (intact_ && reinterpret_cast<uintptr_t>(start) == place);
	}

	/* Ends the region; then its pages are somebody else's. False when they were written. */
	bool end(std::mt19937 &random)
	{
		/* Memory that was unmapped before is free with the region, and soon used anew. */
		if (random() % 2)
			release();
		tally().count(deregistrations, !mr || !mr->deregister());
		if (is_the_devices())
			return true;
		if (!start || !intact_) {
			release();
			start = mmap(nullptr, length, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			mapped_ = length;
		}
		return tally().count(canaries, is_left_alone());
	}

	uint64_t place; /* where the region says that it is */
	size_t length;
	void *start = nullptr; /* NULL when nothing is there any more */
	std::unique_ptr<Dm> dm; /* outlives its region */
	std::unique_ptr<Mr> mr;

private:
	bool is_the_devices() const
	{
		return kind_ == ring || kind_ == device_memory;
	}

	void release()
	{
		if (start)
			munmap(start, mapped_);
		start = nullptr;
	}

	bool move()
	{
		void *room = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void *moved = mremap(start, mapped_, mapped_, MREMAP_MAYMOVE | MREMAP_FIXED, room);

		if (moved == MAP_FAILED) {
			munmap(room, mapped_);
			return false;
		}
		start = moved;
		return true;
	}

	bool is_left_alone() const
	{
		std::vector<uint8_t> pattern(length, 0x5a);

		std::memcpy(start, pattern.data(), length);
		usleep(500);
		return !std::memcmp(start, pattern.data(), length);
	}

	Kind kind_;
	int file_ = -1;
	size_t mapped_ = length; /* of @start, what is still there */
	bool intact_ = true; /* all of @start can be used */
};

} // namespace vm::spot

#endif
