// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hog.hpp: a process in a memory cgroup that takes memory until the kernel has none left for it.
#ifndef BELLHOP_VM_HOG_HPP
#define BELLHOP_VM_HOG_HPP

#include <fstream>
#include <memory>
#include <sys/mount.h>
#include <sys/stat.h>
#include "child.hpp"
#include "cq.hpp"
#include "memory.hpp"

namespace vm
{

/** What it fills the memory with. */
enum class Food {
	pages, /* until it is killed */
	regions, /* registered memory, until it is killed or refused */
	rings, /* of CQs, likewise */
};

/** A memory cgroup of 48 MiB. */
class Sty
{
public:
	Sty()
	{
		mkdir(root, 0755);
		mount("none", root, "cgroup2", 0, nullptr);
		write_to(std::string(root) + "/cgroup.subtree_control", "+memory");
		mkdir(folder, 0755);
		is_there_ = write_to(std::string(folder) + "/memory.max", "48M");
	}

	~Sty()
	{
		rmdir(folder);
		umount2(root, MNT_DETACH);
		rmdir(root);
	}

	Sty(const Sty &) = delete;
	Sty &operator=(const Sty &) = delete;

	/** False where the kernel has no such thing. */
	bool is_there() const
	{
		return is_there_;
	}

	/** Returns the status that waitpid() gives, or nothing when the hog does not end. */
	std::optional<int> feed(Food food, const std::string &device) const
	{
		Child hog([&] {
			write_to(std::string(folder) + "/cgroup.procs", "0");
			write_to("/proc/self/oom_score_adj", "1000");
			if (food == Food::pages)
				eat_pages();
			else
				eat_verbs(food, device);
			return 0;
		});

		return hog.wait(4 * patience);
	}

private:
	static constexpr const char *root = "/run/bellhop-cgroup";
	static constexpr const char *folder = "/run/bellhop-cgroup/sty";
	static constexpr size_t bite = 1 << 20;

	static bool write_to(const std::string &path, const char *text)
	{
		std::ofstream file(path);

		file << text << std::flush;
		return file.good();
	}

	[[noreturn]] static void eat_pages()
	{
		for (;;) {
			uint8_t *memory =
				static_cast<uint8_t *>(mmap(nullptr, bite, PROT_READ | PROT_WRITE,
							    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

			if (memory != MAP_FAILED)
				std::memset(memory, 1, bite);
		}
	}

	/* Bounded: what is eaten is a quarter more than there is. */
	static void eat_verbs(Food food, const std::string &name)
	{
		Device device(name);
		Pd pd(device);
		std::vector<std::unique_ptr<Region>> regions;
		std::vector<std::unique_ptr<Cq>> cqs;

		try {
			for (int i = 0; i < 60; i++)
				if (food == Food::regions)
					regions.push_back(std::make_unique<Region>(pd, bite));
				else
					cqs.push_back(std::make_unique<Cq>(device, bite / 64));
		} catch (const std::exception &error) {
			/* It is refused more, and gives all back. */
		}
	}

	bool is_there_;
};

} // namespace vm

#endif
