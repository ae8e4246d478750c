// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// hosts.hpp: three hosts on one network, as network namespaces: one has the kernel's own rdma_rxe,
// two have a bellhop.
//
//	rxe0 on net0: 10.9.0.1, fd00:9::1
//	    |
//	    +-- bell1 on far0, in the namespace "far": 10.9.0.2, fd00:9::2
//	    |
//	    +-- bell2 on away0, in the namespace "away": 10.9.0.3, fd00:9::3
#ifndef BELLHOP_VM_HOSTS_HPP
#define BELLHOP_VM_HOSTS_HPP

#include "command.hpp"
#include "datagram.hpp"
#include "ktap.hpp"

namespace vm
{

enum class Family {
	ipv4,
	ipv6
};

/** A host's device, and the last digit of its addresses. */
struct Host {
	const char *device;
	int number;

	std::string ipv4() const
	{
		return "10.9.0." + std::to_string(number);
	}

	std::string ipv6() const
	{
		return "fd00:9::" + std::to_string(number);
	}

	ibv_gid gid(Family family) const
	{
		ibv_gid gid;

		if (family == Family::ipv4)
			return mapped_gid(ipv4().c_str());
		require(inet_pton(AF_INET6, ipv6().c_str(), gid.raw) == 1, "no IPv6 address");
		return gid;
	}

	bool is_bellhop() const
	{
		return std::string(device).starts_with("bell");
	}
};

inline constexpr Host rxe{ "rxe0", 1 }, far{ "bell1", 2 }, away{ "bell2", 3 };

class Hosts
{
public:
	/** Room for the largest path MTU and all headers. */
	static constexpr int mtu = 4300;

	/** Without @has_rxe, the first of them has no device. */
	explicit Hosts(bool has_rxe = true)
	{
		clear();
		run_command("modprobe -a veth bridge", false);
		expect_command("ip link add net0 type bridge && ip link set net0 mtu " +
			       std::to_string(mtu));
		add_member("far", far);
		add_member("away", away);
		add_addresses("", "net0", rxe);
		if (has_rxe) {
			run_command("modprobe rdma_rxe", false);
			expect_command("rdma link add rxe0 type rxe netdev net0");
		}
		for (const Host &host : { far, away })
			require(has_gids(host), std::string("no ") + host.device);
		require(!has_rxe || has_gids(rxe), "no rxe0");
	}

	~Hosts()
	{
		clear();
	}

	Hosts(const Hosts &) = delete;
	Hosts &operator=(const Hosts &) = delete;

private:
	static void add_addresses(const std::string &where, const std::string &netdev,
				  const Host &host)
	{
		const std::string ip = "ip " + where;

		expect_command(ip + " address add " + host.ipv4() + "/24 dev " + netdev + " && " +
			       ip + " -6 address add " + host.ipv6() + "/64 dev " + netdev +
			       " nodad && " + ip + " link set " + netdev + " up");
	}

	static void add_member(const std::string &name, const Host &host)
	{
		const std::string netdev = name + "0", port = name + "-port";
		const std::string size = " mtu " + std::to_string(mtu);

		expect_command("ip netns add " + name + " && ip link add " + port + size +
			       " type veth peer name " + netdev + size + " netns " + name);
		expect_command("ip link set " + port + " master net0 up");
		add_addresses("-n " + name, netdev, host);
		expect_command("ip netns exec " + name + " rdma link add " + host.device +
			       " type bellhop netdev " + netdev);
	}

	static bool has_gids(const Host &host)
	{
		return comes_true([&] {
			try {
				const Device device(host.device);

				return device.find_gid(host.gid(Family::ipv4)) >= 0 &&
				       device.find_gid(host.gid(Family::ipv6)) >= 0;
			} catch (const std::exception &) {
				return false;
			}
		});
	}

	static void clear()
	{
		for (const char *command :
		     { "rdma link delete rxe0", "rdma link delete bell1", "rdma link delete bell2",
		       "ip netns delete far", "ip netns delete away", "ip link delete net0",
		       "rmmod rdma_rxe" })
			run_command(command, false);
	}
};

/** A UD QP on a host, with what it needs. */
struct Office {
	Office(const Host &host, Family family, uint32_t qkey)
	    : host(host), family(family), device(host.device),
	      gid_index(static_cast<uint8_t>(device.find_gid(host.gid(family)))), pd(device),
	      send_cq(device, 512), recv_cq(device, 512),
	      qp(device, pd.get(), send_cq, recv_cq,
		 { .cap = { 256, 256, 4, 4, 128 }, .type = IBV_QPT_UD }),
	      region(pd, 64 << 10), qkey(qkey)
	{
		require_errno(!(errno = qp.open(qkey)), "to RTS");
	}

	const Host host;
	const Family family;
	Device device;
	uint8_t gid_index;
	Pd pd;
	Cq send_cq;
	Cq recv_cq;
	Qp qp;
	Region region;
	uint32_t qkey;
};

} // namespace vm

#endif
