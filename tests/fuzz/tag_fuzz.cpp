// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// tag_fuzz.cpp: a list of tags through any calls, beside one that is kept in the simplest way.
#include <algorithm>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

extern "C" {
#include "tag.h"
#include "tmh.h"
}
#include "require.hpp"

namespace
{

struct Buffer {
	int place;
	u32 handle;
	u64 tag, mask;
	bool waits, taken;
};

class Machine
{
public:
	explicit Machine(FuzzedDataProvider &input)
	    : input_{ input }, entries_(input.ConsumeIntegralInRange<u32>(1, 6))
	{
		bellhop_tags_init(&tags_, entries_.data(), u32(entries_.size()));
	}

	void step()
	{
		switch (input_.ConsumeIntegralInRange<int>(0, 6)) {
		case 0:
		case 1:
			add();
			break;
		case 2:
		case 3:
			match();
			break;
		case 4:
			end_taken();
			break;
		case 5:
			find();
			break;
		default:
			sync();
		}
		REQUIRE(tags_.waiting == std::ranges::count(list_, true, &Buffer::waits));
	}

private:
	u64 any_tag()
	{
		return input_.ConsumeIntegralInRange<u64>(0, 3);
	}

	void agree()
	{
		if (unmatched_ != handled_)
			return;
		for (Buffer &buffer : list_)
			buffer.waits = false;
	}

	void add()
	{
		const u64 tag = any_tag(), mask = any_tag();
		const u32 handle = input_.ConsumeIntegralInRange<u32>(0, 7);
		const int place = bellhop_tags_add(&tags_, tag, mask, handle);

		if (list_.size() == entries_.size()) {
			REQUIRE(place == -ENOMEM);
			return;
		}
		REQUIRE(place >= 0 && u32(place) < entries_.size());
		for (const Buffer &other : list_)
			REQUIRE(other.place != place);
		list_.push_back({ place, handle, tag, mask, true, false });
		agree();
	}

	void match()
	{
		const u64 tag = any_tag();
		const int place = bellhop_tags_match(&tags_, tag);
		const auto first = std::ranges::find_if(list_, [tag](const Buffer &buffer) {
			return !buffer.waits && !buffer.taken &&
			       (buffer.tag & buffer.mask) == (tag & buffer.mask);
		});

		if (first != list_.end()) {
			REQUIRE(place == first->place);
			first->taken = true;
			return;
		}
		REQUIRE(place == -ENOENT);
		unmatched_++;
		if (input_.ConsumeBool()) {
			agree();
			bellhop_tags_unmatch(&tags_);
			unmatched_--;
		}
		agree();
	}

	void end_taken()
	{
		const auto taken = std::ranges::find(list_, true, &Buffer::taken);

		if (taken == list_.end())
			return;
		if (input_.ConsumeBool()) {
			bellhop_tags_give_back(&tags_, u32(taken->place));
			taken->taken = false;
		} else {
			bellhop_tags_remove(&tags_, u32(taken->place));
			list_.erase(taken);
		}
	}

	void find()
	{
		const u32 handle = input_.ConsumeIntegralInRange<u32>(0, 7);
		const int place = bellhop_tags_find(&tags_, handle);
		const auto meant = std::ranges::find_if(list_, [handle](const Buffer &buffer) {
			return buffer.handle == handle && !buffer.taken;
		});

		if (meant == list_.end()) {
			REQUIRE(place == -ENOENT);
			return;
		}
		REQUIRE(place == meant->place);
		bellhop_tags_remove(&tags_, u32(place));
		list_.erase(meant);
	}

	void sync()
	{
		handled_ = input_.ConsumeBool() ? unmatched_
						: input_.ConsumeIntegralInRange<u32>(0, 3);
		bellhop_tags_sync(&tags_, handled_);
		agree();
	}

	FuzzedDataProvider &input_;
	std::vector<bellhop_tag> entries_;
	bellhop_tags tags_;
	std::vector<Buffer> list_; /* in the order of adding */
	u32 unmatched_ = 0, handled_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	FuzzedDataProvider input(data, size);
	const std::vector<u8> bytes = input.ConsumeBytes<u8>(input.ConsumeIntegralInRange(0, 40));
	bellhop_tmh tmh;

	bellhop_tmh_decode(&tmh, bytes.data(), u32(bytes.size()));
	REQUIRE(tmh.op == BELLHOP_TMH_NO_TAG || (!bytes.empty() && tmh.op == bytes[0]));

	Machine machine(input);

	while (input.remaining_bytes())
		machine.step();
	return 0;
}
