// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
// exporter.hpp: memory that drivers of the kernel export as files (dma-buf): the system's heap, the
// virtual GPU vgem, and pages of a memfd, as far as the kernel has them.
#ifndef BELLHOP_VM_EXPORTER_HPP
#define BELLHOP_VM_EXPORTER_HPP

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <span>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "require.hpp"

namespace vm
{

/** Exported memory, mapped. */
class DmaBuf
{
public:
	/** @fd: becomes its own; negative where there is none. */
	DmaBuf(int fd, size_t length, bool writable = true)
	    : fd_(fd), length_(length),
	      start_(fd < 0 ? MAP_FAILED
			    : mmap(nullptr, length, PROT_READ | (writable ? PROT_WRITE : 0),
				   MAP_SHARED, fd, 0))
	{
		require_errno(fd < 0 || start_ != MAP_FAILED, "mmap of a dma-buf");
	}

	~DmaBuf()
	{
		if (start_ != MAP_FAILED)
			munmap(start_, length_);
		shut();
	}

	DmaBuf(const DmaBuf &) = delete;
	DmaBuf &operator=(const DmaBuf &) = delete;

	/** The mapping stays. */
	void shut()
	{
		if (fd_ >= 0)
			close(fd_);
		fd_ = -1;
	}

	int fd() const
	{
		return fd_;
	}

	std::span<uint8_t> bytes() const
	{
		return { static_cast<uint8_t *>(start_), length_ };
	}

private:
	int fd_;
	size_t length_;
	void *start_;
};

namespace exporter
{

/** Returns a file, or -1 where the kernel has no such heap. */
inline int heap(size_t length, bool writable = true)
{
	const int device = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
	dma_heap_allocation_data request = {};

	if (device < 0)
		return -1;
	request.len = length;
	request.fd_flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC;
	const int error = ioctl(device, DMA_HEAP_IOCTL_ALLOC, &request);
	close(device);
	return error ? -1 : static_cast<int>(request.fd);
}

/* Of <drm/drm.h>, which is in another package. */
struct DrmVersion {
	int major, minor, patch;
	size_t name_length;
	char *name;
	size_t date_length;
	char *date;
	size_t text_length;
	char *text;
};

struct DrmDumb {
	uint32_t height, width, bits, flags;
	uint32_t handle, pitch;
	uint64_t size;
};

struct DrmPrime {
	uint32_t handle, flags;
	int32_t fd;
};

inline bool is_vgem(int card)
{
	char name[16] = "";
	DrmVersion version = {};

	version.name = name;
	version.name_length = sizeof(name) - 1;
	return !ioctl(card, _IOWR('d', 0x00, DrmVersion), &version) && !std::strcmp(name, "vgem");
}

/** Returns its file, or -1. */
inline int open_vgem()
{
	std::error_code error;

	if (std::system("modprobe -q vgem"))
		return -1;
	for (const auto &entry : std::filesystem::directory_iterator("/dev/dri", error)) {
		if (!entry.path().filename().string().starts_with("card"))
			continue;
		const int card = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
		if (card >= 0 && is_vgem(card))
			return card;
		close(card);
	}
	return -1;
}

/** Returns a file, or -1 where the kernel has no vgem. */
inline int vgem(size_t length, bool writable = true)
{
	const int card = open_vgem();
	DrmDumb dumb = {};
	DrmPrime prime = {};

	if (card < 0)
		return -1;
	dumb.height = 1;
	dumb.width = static_cast<uint32_t>(length / 4);
	dumb.bits = 32;
	require_errno(!ioctl(card, _IOWR('d', 0xb2, DrmDumb), &dumb), "CREATE_DUMB");
	prime.handle = dumb.handle;
	prime.flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC;
	require_errno(!ioctl(card, _IOWR('d', 0x2d, DrmPrime), &prime), "PRIME_HANDLE_TO_FD");
	close(card);
	return prime.fd;
}

/** Returns a file, or -1 where the kernel does not export a memfd's pages. */
inline int memfd(size_t length, bool writable = true)
{
	const int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	udmabuf_create request = {};

	if (device < 0 || !writable)
		return -1;
	const int pages = memfd_create("exported", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	require_errno(pages >= 0 && !ftruncate(pages, length) &&
			      !fcntl(pages, F_ADD_SEALS, F_SEAL_SHRINK),
		      "memfd_create");
	request.memfd = static_cast<uint32_t>(pages);
	request.flags = UDMABUF_FLAGS_CLOEXEC;
	request.size = length;
	const int fd = ioctl(device, UDMABUF_CREATE, &request);
	require_errno(fd >= 0, "UDMABUF_CREATE");
	close(pages);
	close(device);
	return fd;
}

} // namespace exporter

} // namespace vm

#endif
