// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// flow.hpp: flows of raw packet QPs, and what they are told to want.
#ifndef BELLHOP_VM_FLOW_HPP
#define BELLHOP_VM_FLOW_HPP

#include "../packet.hpp"
#include "qp.hpp"

namespace vm
{

/** What a flow wants: one header after the other. */
class Wants
{
public:
	/** Frames to an address. */
	Wants &to(const Mac &mac)
	{
		ibv_flow_spec_eth spec = ethernet();

		std::copy(mac.begin(), mac.end(), spec.val.dst_mac);
		std::fill_n(spec.mask.dst_mac, mac.size(), 0xff);
		return add(spec);
	}

	Wants &from(const Mac &mac)
	{
		ibv_flow_spec_eth spec = ethernet();

		std::copy(mac.begin(), mac.end(), spec.val.src_mac);
		std::fill_n(spec.mask.src_mac, mac.size(), 0xff);
		return add(spec);
	}

	Wants &ethertype(uint16_t type)
	{
		ibv_flow_spec_eth spec = ethernet();

		spec.val.ether_type = htons(type);
		spec.mask.ether_type = 0xffff;
		return add(spec);
	}

	/** The number of a virtual network, whatever the tag says else. */
	Wants &vlan(uint16_t id)
	{
		ibv_flow_spec_eth spec = ethernet();

		spec.val.vlan_tag = htons(id);
		spec.mask.vlan_tag = htons(0xfff);
		return add(spec);
	}

	Wants &ipv4(const char *source, const char *destination, const char *mask)
	{
		ibv_flow_spec_ipv4 spec = {};

		spec.type = IBV_FLOW_SPEC_IPV4;
		spec.size = sizeof(spec);
		spec.val = { inet_addr(source), inet_addr(destination) };
		spec.mask = { inet_addr(mask), inet_addr(mask) };
		return add(spec);
	}

	Wants &ipv6(const char *destination, uint32_t flow_label)
	{
		ibv_flow_spec_ipv6 spec = {};

		spec.type = IBV_FLOW_SPEC_IPV6;
		spec.size = sizeof(spec);
		inet_pton(AF_INET6, destination, spec.val.dst_ip);
		std::fill_n(spec.mask.dst_ip, sizeof(spec.mask.dst_ip), 0xff);
		spec.val.flow_label = htonl(flow_label);
		spec.mask.flow_label = htonl(0xfffff);
		return add(spec);
	}

	/** @type: IBV_FLOW_SPEC_TCP or IBV_FLOW_SPEC_UDP. */
	Wants &port(ibv_flow_spec_type type, uint16_t destination)
	{
		ibv_flow_spec_tcp_udp spec = {};

		spec.type = type;
		spec.size = sizeof(spec);
		spec.val.dst_port = htons(destination);
		spec.mask.dst_port = 0xffff;
		return add(spec);
	}

	/** And what it wants is dropped. */
	Wants &drop()
	{
		ibv_flow_spec_action_drop spec = {};

		spec.type = IBV_FLOW_SPEC_ACTION_DROP;
		spec.size = sizeof(spec);
		return add(spec);
	}

	/** What no device needs to know. */
	Wants &mpls()
	{
		ibv_flow_spec_mpls spec = {};

		spec.type = IBV_FLOW_SPEC_MPLS;
		spec.size = sizeof(spec);
		return add(spec);
	}

	uint8_t count() const
	{
		return count_;
	}

	const std::vector<uint8_t> &bytes() const
	{
		return bytes_;
	}

private:
	static ibv_flow_spec_eth ethernet()
	{
		ibv_flow_spec_eth spec = {};

		spec.type = IBV_FLOW_SPEC_ETH;
		spec.size = sizeof(spec);
		return spec;
	}

	template <class T>
	Wants &add(const T &spec)
	{
		const auto *bytes = reinterpret_cast<const uint8_t *>(&spec);

		bytes_.insert(bytes_.end(), bytes, bytes + sizeof(spec));
		count_++;
		return *this;
	}

	std::vector<uint8_t> bytes_;
	uint8_t count_ = 0;
};

/** What else a flow is told. */
struct FlowShape {
	uint16_t priority = 0;
	ibv_flow_attr_type type = IBV_FLOW_ATTR_NORMAL;
	uint32_t flags = 0;
	uint8_t port = 1;
};

/** ibv_create_flow(). Returns null with errno set. */
inline ibv_flow *create_flow(ibv_qp *qp, const Wants &wants, const FlowShape &shape = {})
{
	const ibv_flow_attr head = {
		.comp_mask = 0,
		.type = shape.type,
		.size = static_cast<uint16_t>(sizeof(head) + wants.bytes().size()),
		.priority = shape.priority,
		.num_of_specs = wants.count(),
		.port = shape.port,
		.flags = shape.flags,
	};
	std::vector<uint8_t> attr(sizeof(head));

	std::memcpy(attr.data(), &head, sizeof(head));
	attr.insert(attr.end(), wants.bytes().begin(), wants.bytes().end());
	return ibv_create_flow(qp, reinterpret_cast<ibv_flow_attr *>(attr.data()));
}

/** A flow, for as long as this lives. */
class Flow
{
public:
	/** What create_flow() has returned; its result and errno. */
	explicit Flow(ibv_flow *made) : flow_(made)
	{
		require_errno(flow_, "ibv_create_flow");
	}

	Flow(ibv_qp *qp, const Wants &wants, const FlowShape &shape = {})
	    : Flow(create_flow(qp, wants, shape))
	{
	}

	Flow(const Qp &qp, const Wants &wants, const FlowShape &shape = {})
	    : Flow(qp.get(), wants, shape)
	{
	}

	~Flow()
	{
		if (flow_)
			ibv_destroy_flow(flow_);
	}

	Flow(Flow &&other) : flow_(std::exchange(other.flow_, nullptr)) {}

	Flow &operator=(Flow &&other)
	{
		std::swap(flow_, other.flow_);
		return *this;
	}

	/** Ends it now. Returns 0 or an errno. */
	int end()
	{
		return ibv_destroy_flow(std::exchange(flow_, nullptr));
	}

private:
	ibv_flow *flow_;
};

} // namespace vm

#endif
