// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// xrc.hpp: XRC domains, and both ends of a connection.
#ifndef BELLHOP_VM_XRC_HPP
#define BELLHOP_VM_XRC_HPP

#include <sys/mman.h>
#include "endpoint.hpp"
#include "srq.hpp"

namespace vm
{

/** A file that processes share an XRC domain by. */
class SharedFile
{
public:
	SharedFile() : fd_(memfd_create("xrc", MFD_CLOEXEC))
	{
		require_errno(fd_ >= 0, "memfd_create");
	}

	~SharedFile()
	{
		close(fd_);
	}

	SharedFile(const SharedFile &) = delete;
	SharedFile &operator=(const SharedFile &) = delete;

	int fd() const
	{
		return fd_;
	}

private:
	int fd_;
};

/** An XRC domain. */
class Xrcd
{
public:
	/** @fd: of the file that it is shared by; -1 is nobody else's. Throws. */
	explicit Xrcd(const Device &device, int fd = -1, int flags = O_CREAT)
	    : xrcd_(open(device, fd, flags))
	{
		require_errno(xrcd_, "ibv_open_xrcd");
	}

	~Xrcd()
	{
		if (xrcd_)
			ibv_close_xrcd(xrcd_);
	}

	Xrcd(const Xrcd &) = delete;
	Xrcd &operator=(const Xrcd &) = delete;

	ibv_xrcd *get() const
	{
		return xrcd_;
	}

	/** Closes it now. Returns 0 or an errno, and then it is still there. */
	int close()
	{
		const int error = ibv_close_xrcd(xrcd_);

		if (!error)
			xrcd_ = nullptr;
		return error;
	}

	/** Whose domain it would be; null and errno. */
	static ibv_xrcd *open(const Device &device, int fd, int flags)
	{
		ibv_xrcd_init_attr attr = {};

		attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
		attr.fd = fd;
		attr.oflags = flags;
		return ibv_open_xrcd(device.get(), &attr);
	}

private:
	ibv_xrcd *xrcd_;
};

/** Who asks: an initiator QP and a region, in a context of its own. */
struct Initiator {
	explicit Initiator(bool extended = false, size_t room = 4096)
	    : pd(device), cq(device, 64),
	      qp(device, pd.get(), cq, cq,
		 { .cap = { 64, 0, 4, 0, 64 }, .extended = extended, .type = IBV_QPT_XRC_SEND }),
	      region(pd, room)
	{
	}

	/** Both ends to RTS, the target first. */
	void connect(const Qp &target, const Path &path = {}) const
	{
		target.connect(qp.address(), path);
		qp.connect(target.address(), path);
	}

	/** A request of its own memory, whose completion must be @status. */
	ibv_wc run(const Send &send, ibv_wc_status status = IBV_WC_SUCCESS,
		   std::source_location where = std::source_location::current()) const
	{
		require(!post(qp, send), "ibv_post_send", where);
		return expect(cq, qp, send.id, status, where);
	}

	Device device;
	Pd pd;
	Cq cq;
	Qp qp;
	Region region;
};

/** A PD with an SRQ and its CQ in somebody's XRC domain, and a region. */
struct Receiver {
	Receiver(const Device &device, const Xrcd &xrcd, size_t room = 4096, int cqe = 256,
		 const Channel *channel = nullptr)
	    : pd(device), cq(device, cqe, channel), srq(pd, xrcd.get(), cq), region(pd, room)
	{
	}

	/** Entry @id has @length bytes at the beginning of the region. */
	void receive(uint64_t id, uint32_t length = 4096) const
	{
		require(!srq.post({ region.sge(0, length) }, id), "ibv_post_srq_recv");
	}

	Pd pd;
	Cq cq;
	Srq srq;
	Region region;
};

} // namespace vm

#endif
