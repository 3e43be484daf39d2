/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Another process's memory by process_vm_readv: see process_memory.h. */
#include "system/process_memory.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

/* Pieces of one call. */
#define PIECES 64

/*
 * One piece per page: the kernel promises a partial result only at the borders of pieces. Returns the number of
 * pieces and their bytes.
 */
static size_t process_memory_pieces(uint64_t address, size_t size, struct iovec pieces[PIECES],
				    size_t *ret_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0, bytes = 0;

	while (count < PIECES && bytes < size) {
		uint64_t at = address + bytes;
		size_t length = page - at % page;

		if (length > size - bytes)
			length = size - bytes;
		pieces[count++] = (struct iovec){ (void *)(uintptr_t)at, length };
		bytes += length;
	}
	*ret_bytes = bytes;
	return count;
}

ssize_t process_memory_read(pid_t pid, uint64_t address, void *bytes, size_t size)
{
	struct iovec pieces[PIECES], local;
	size_t done = 0, want, count;
	ssize_t got;

	if (size > SSIZE_MAX)
		size = SSIZE_MAX;
	if (size > UINTPTR_MAX - address)
		size = UINTPTR_MAX - address;
	while (done < size) {
		count = process_memory_pieces(address + done, size - done, pieces, &want);
		local = (struct iovec){ (char *)bytes + done, want };
		got = process_vm_readv(pid, &local, 1, pieces, count, 0);
		if (got <= 0)
			return done ? (ssize_t)done : got ? -errno : -EFAULT;
		done += (size_t)got;
		if ((size_t)got < want)
			break;
	}
	return (ssize_t)done;
}
