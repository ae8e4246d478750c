// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// spoiler.hpp: makes nonsense of sound calls, and has memory for it that is bad, or changes while
// the kernel reads it.
#ifndef BELLHOP_VM_SPOILER_HPP
#define BELLHOP_VM_SPOILER_HPP

#include <thread>
#include "ioctls.hpp"
#include "memory.hpp"

namespace vm
{

/** Where calls and answers of one thread lie, and where they had better not. */
class Places
{
public:
	/** Good memory, of 8 KiB. */
	uint64_t answers() const
	{
		return reinterpret_cast<uintptr_t>(memory_.data());
	}

	uint8_t *answer(size_t offset) const
	{
		return memory_.data() + offset;
	}

	/** The answer's first word. */
	uint32_t first_answer() const
	{
		uint32_t word;

		std::memcpy(&word, memory_.data(), sizeof(word));
		return word;
	}

	/** A good address, or one of another kind. */
	uint64_t some(std::mt19937 &random) const
	{
		const uint64_t edge = reinterpret_cast<uintptr_t>(edges_.data()) + 4096;

		switch (random() % 10) {
		case 0:
			return 0;
		case 1:
			return edge; /* nobody may look there */
		case 2:
			return edge - 1 - random() % 64; /* it is cut off */
		case 3:
			return edge + 4096; /* only to be read */
		case 4:
			return 0xffff888000000000 + (random() & ~7u); /* the kernel's */
		case 5:
			return uint64_t(random()) << 32 | random();
		case 6:
			return device_memory_;
		default:
			return answers() + random() % 4096;
		}
	}

	/** @device_memory: a mapping of the device's that may only be read. */
	explicit Places(uint64_t device_memory = 0) : device_memory_(device_memory)
	{
		uint8_t *middle = edges_.data() + 4096;

		/* Answers can be told to be long: that is no reason to lose what lies behind. */
		mprotect(memory_.data() + 8192, guard, PROT_NONE);
		mprotect(middle, 4096, PROT_NONE);
		mprotect(middle + 4096, 4096, PROT_READ);
	}

private:
	static constexpr size_t guard = 1 << 20;

	Memory memory_{ 8192 + guard };
	Memory edges_{ 3 * 4096 };
	uint64_t device_memory_;
};

/** Spoils calls in one way or several. One thread. */
class Spoiler
{
public:
	Spoiler(const Places &places, std::mt19937 &random) : places_(places), random_(random) {}

	~Spoiler()
	{
		over_ = true;
		scrambler_.join();
	}

	void spoil(Command &command)
	{
		std::vector<uint8_t> &bytes = command.bytes;

		do {
			switch (random_() % 8) {
			case 0:
			case 1:
				misdirect(command);
				break;
			case 2: /* lengths and the number are in the first 8 bytes */
				bytes[random_() % 8] ^= 1 << random_() % 8;
				break;
			case 3:
				set_half(bytes, 4 + 2 * (random_() % 2), length());
				break;
			case 4: /* where an extended command has the driver's lengths */
				if (bytes.size() >= 24)
					set_half(bytes, 16 + 2 * (random_() % 2), length());
				break;
			case 5:
				bytes.resize(random_() % (bytes.size() + 64), random_());
				break;
			default:
				damage(command, random_() % bytes.size());
			}
			if (bytes.size() < 24)
				bytes.resize(24);
		} while (random_() % 3 == 0);
	}

	void spoil(Call &call)
	{
		do {
			ib_uverbs_attr none = {};
			ib_uverbs_attr &attr = call.attrs.empty()
						       ? none
						       : call.attrs[random_() % call.attrs.size()];

			switch (random_() % 14) {
			case 0:
			case 1:
			case 2:
				attr.data = places_.some(random_);
				break;
			case 3:
			case 4:
				attr.len = length();
				break;
			case 5:
				attr.attr_id = random_() % 2 ? random_() % 20 : random_();
				break;
			case 6:
				attr.flags = random_();
				break;
			case 7:
				attr.attr_data.reserved = random_();
				break;
			case 8:
				attr.data = random_() % 64;
				break;
			case 9:
				if (!call.attrs.empty())
					call.attrs.push_back(attr);
				set_length(call);
				break;
			case 10:
				if (!call.attrs.empty())
					call.attrs.pop_back();
				set_length(call);
				break;
			case 11:
				call.head.num_attrs = length();
				break;
			case 12:
				call.head.length = length();
				break;
			default:
				spoil_head(call.head);
			}
		} while (random_() % 3 == 0);
	}

	/**
	 * Where the kernel may find a call: at its end begins memory that is not there, or, if
	 * @anywhere, now and then at a place whose bytes change all the time.
	 */
	uint8_t *place(const std::vector<uint8_t> &bytes, bool anywhere)
	{
		const bool unsteady = anywhere && random_() % 8 == 0;
		const Memory &memory = unsteady ? unsteady_ : steady_;
		changes_ = unsteady;
		uint8_t *to = memory.data() + (unsteady ? 0 : room - bytes.size());

		require(bytes.size() <= room, "a call is too long");
		std::memcpy(to, bytes.data(), bytes.size());
		return to;
	}

private:
	static constexpr size_t room = 4096;

	uint16_t length()
	{
		static constexpr uint16_t edges[] = {
			0, 1, 2, 3, 4, 8, 16, 0x7fff, 0x8000, 0xffff
		};

		return random_() % 2 ? edges[random_() % std::size(edges)] : random_() % 64;
	}

	static void set_half(std::vector<uint8_t> &bytes, size_t at, uint16_t value)
	{
		std::memcpy(&bytes[at], &value, sizeof(value));
	}

	static void set_length(Call &call)
	{
		call.head.num_attrs = call.attrs.size();
		call.head.length = sizeof(call.head) + call.attrs.size() * sizeof(call.attrs[0]);
	}

	void spoil_head(Call::Head &head)
	{
		switch (random_() % 5) {
		case 0:
			head.object_id = random_();
			break;
		case 1:
			head.method_id = random_() % 2 ? random_() % 8 : random_();
			break;
		case 2:
			head.driver_id = random_();
			break;
		case 3:
			head.reserved1 = random_();
			break;
		default:
			head.reserved2 = random_();
		}
	}

	void misdirect(Command &command)
	{
		const uint64_t where = places_.some(random_);

		if (command.answers_at.empty())
			return;
		const size_t at = command.answers_at[random_() % command.answers_at.size()];

		if (at + sizeof(where) <= command.bytes.size())
			std::memcpy(&command.bytes[at], &where, sizeof(where));
	}

	/* Not the address of an answer: whatever it hit would be missed in this program. */
	void damage(Command &command, size_t at)
	{
		const uint32_t word = random_() % 2 ? -1u >> random_() % 3 : random_() % 16;

		for (const size_t answer : command.answers_at)
			if (at / 8 == answer / 8)
				return;
		if (random_() % 4)
			command.bytes[at] ^= 1 << random_() % 8;
		else
			std::memcpy(
				&command.bytes[std::min(at & ~size_t(3), command.bytes.size() - 4)],
				&word, sizeof(word));
	}

	const Places &places_;
	std::mt19937 &random_;
	Memory steady_{ room };
	Memory unsteady_{ room };
	std::atomic<bool> over_ = false, changes_ = false;
	std::thread scrambler_{ [this, random = std::mt19937(random_())]() mutable {
		while (!over_) {
			if (!changes_) {
				usleep(300);
				continue;
			}
			auto *word = reinterpret_cast<uint32_t *>(unsteady_.data()) + random() % 32;

			std::atomic_ref(*word).fetch_xor(1u << random() % 8,
							 std::memory_order_relaxed);
		}
	} };
};

} // namespace vm

#endif
