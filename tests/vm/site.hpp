// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// site.hpp: two devices, one with an interface of its own and one over a dummy interface, and how
// to have them again after whatever has happened to them.
#ifndef BELLHOP_VM_SITE_HPP
#define BELLHOP_VM_SITE_HPP

#include "holdings.hpp"
#include "module.hpp"

namespace vm
{

class Site
{
public:
	static constexpr const char *own = "bell0"; /* and its interface */
	static constexpr const char *link = "bell1";
	static constexpr const char *netdev = "dummy0"; /* of link */
	static constexpr const char *guest = "bell2"; /* if any, over guest_netdev */
	static constexpr const char *guest_netdev = "dummy1";
	static constexpr const char *netns = "storm";
	/* Of own and of link. */
	static constexpr const char *addresses[] = { "10.6.0.1", "10.6.1.1" };

	Site()
	{
		run_command("modprobe dummy numdummies=0", false);
		restore();
	}

	~Site()
	{
		run_command("ip netns delete storm", false);
		run_command("ip link delete dummy1", false);
		run_command("ip link delete dummy0", false);
		comes_true([] { return !exists(link) && !exists(guest); });
	}

	/** As at first: each processor, the module, both devices, and nothing else. */
	void restore() const
	{
		expect_command(R"(
			for file in /sys/devices/system/cpu/cpu*/online; do
				[ ! -e $file ] || [ $(cat $file) = 1 ] || echo 1 >$file
			done
			ip netns delete storm 2>/dev/null
			ip link delete dummy1 2>/dev/null
			:)");
		EXPECT_TRUE(comes_true([] { return !exists(guest); })) << "bell2 does not go";
		if (!exists(own)) {
			EXPECT_TRUE(!is_loaded() || unload_module()) << "the module does not go";
			load_module();
		}
		expect_command(R"(
			[ -e /sys/class/net/dummy0 ] || ip link add dummy0 type dummy
			ip link set bell0 up mtu 4200 && ip link set dummy0 up mtu 4200
			[ -e /sys/class/infiniband/bell1 ] ||
				rdma link add bell1 type bellhop netdev dummy0)");
		restore_addresses();
		for (const char *name : { own, link })
			EXPECT_TRUE(comes_true([name] { return is_usable(name); }))
				<< name << " does not come back";
	}

	/** Those that callers use. */
	static void restore_addresses()
	{
		expect_command(std::string("ip address replace ") + addresses[0] + "/24 dev bell0");
		expect_command(std::string("ip address replace ") + addresses[1] +
			       "/24 dev dummy0");
	}

	static bool exists(const std::string &name)
	{
		return std::filesystem::exists("/sys/class/infiniband/" + name);
	}

	/** Active, and with an address. */
	static bool is_usable(const std::string &name)
	{
		const std::string port = "/sys/class/infiniband/" + name + "/ports/1/";

		return first_word(port + "state") == "4:" &&
		       first_word(port + "gids/0").find_first_not_of("0:") != std::string::npos;
	}

	static Holdings holdings()
	{
		return Holdings({ own, link });
	}

private:
	static bool is_loaded()
	{
		return std::filesystem::exists("/sys/module/bellhop");
	}

	static std::string first_word(const std::string &path)
	{
		std::ifstream file(path);
		std::string word;

		file >> word;
		return word;
	}
};

} // namespace vm

#endif
