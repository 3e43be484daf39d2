/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another process's memory: see process_memory.h. By process_vm_readv, which refuses memory of devices, except for pages that are shared
 * since a fork: of these it would make the process a copy of its own, and /proc/PID/mem does not.
 */
#include "system/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kernel-page-flags.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/pagemap.h"

/* Pages of one call. */
#define PIECES 64

/*
 * One piece per page: the kernel promises a partial result only at the borders of pieces. Returns the number of
 * pieces and their bytes.
 */
static size_t memory_pieces(uint64_t address, size_t size, struct iovec pieces[PIECES],
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

static bool page_can_be_read(uint64_t entry)
{
	return entry & PAGEMAP_PRESENT || (entry & PAGEMAP_SWAPPED && !(entry & PAGEMAP_MARKED));
}

/* Anonymous, and another process has it, too; or of a device. */
static bool page_may_be_shared(uint64_t entry)
{
	return (entry & (PAGEMAP_PRESENT | PAGEMAP_FILE | PAGEMAP_EXCLUSIVE)) == PAGEMAP_PRESENT &&
	       entry & PAGEMAP_NUMBER;
}

static int memory_open(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

/* Are all of these pages anonymous memory? What the kernel does not describe is that of a device. */
static bool memory_is_anonymous(const uint64_t *entries, size_t count)
{
	int flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	uint64_t word;
	size_t i;

	if (flags < 0)
		return false;
	for (i = 0; i < count; i++)
		if (pread(flags, &word, sizeof(word),
			  (off_t)((entries[i] & PAGEMAP_NUMBER) * sizeof(word))) != sizeof(word) ||
		    !(word & (1ull << KPF_ANON)) || word & (1ull << KPF_NOPAGE))
			break;
	close(flags);
	return i == count;
}

/*
 * How many of the pieces are of pages that are present, and all may be shared, or none. Negative errno on failure.
 */
static ssize_t memory_count_present(int pagemap, const struct iovec *pieces, size_t count,
				    bool *ret_shared)
{
	uint64_t entries[PIECES], page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = (uintptr_t)pieces[0].iov_base / page;
	ssize_t got, i;

	got = pread(pagemap, entries, count * sizeof(entries[0]),
		    (off_t)(first * sizeof(entries[0])));
	if (got < 0)
		return -errno;
	got /= (ssize_t)sizeof(entries[0]);
	*ret_shared = got && page_may_be_shared(entries[0]);
	for (i = 0; i < got && page_can_be_read(entries[i]) &&
		    page_may_be_shared(entries[i]) == *ret_shared;
	     i++)
		;
	*ret_shared = *ret_shared && memory_is_anonymous(entries, (size_t)i);
	return i;
}

static ssize_t memory_read_shared(pid_t pid, uint64_t address, void *bytes, size_t size)
{
	int fd = memory_open(pid, "mem");
	ssize_t got;

	if (fd < 0)
		return fd;
	got = pread(fd, bytes, size, (off_t)address);
	close(fd);
	return got > 0 ? got : -EFAULT;
}

/* Read the next bytes, of at most PIECES pages. Returns their number or a negative errno. */
static ssize_t memory_read_pieces(pid_t pid, int pagemap, uint64_t address, void *bytes,
				  size_t size)
{
	struct iovec pieces[PIECES], local;
	bool shared = false;
	size_t want, i;
	ssize_t count, got;

	count = (ssize_t)memory_pieces(address, size, pieces, &want);
	if (pagemap >= 0)
		count = memory_count_present(pagemap, pieces, (size_t)count, &shared);
	if (count <= 0)
		return count < 0 ? count : -ENODATA;
	for (want = 0, i = 0; i < (size_t)count; i++)
		want += pieces[i].iov_len;
	if (shared)
		return memory_read_shared(pid, address, bytes, want);
	local = (struct iovec){ bytes, want };
	got = process_vm_readv(pid, &local, 1, pieces, (size_t)count, 0);
	return got > 0 ? got : got ? -errno : -EFAULT;
}

static size_t memory_limit(uint64_t address, size_t size)
{
	if (size > SSIZE_MAX)
		size = SSIZE_MAX;
	return size > UINTPTR_MAX - address ? UINTPTR_MAX - address : size;
}

ssize_t process_memory_read_present(pid_t pid, uint64_t address, void *bytes, size_t size)
{
	int pagemap = memory_open(pid, "pagemap");
	size_t done = 0;
	ssize_t got = 0;

	if (pagemap < 0)
		return pagemap;
	size = memory_limit(address, size);
	while (done < size) {
		got = memory_read_pieces(pid, pagemap, address + done, (char *)bytes + done,
					 size - done);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	close(pagemap);
	return done ? (ssize_t)done : got;
}

/* A read of pages that may not be present, at most PIECES. */
struct patient_read {
	struct timed_call call; /* first */
	pid_t pid;
	uint64_t address;
	size_t size;
	ssize_t got;
	char bytes[];
};

static void patient_read_run(struct timed_call *call)
{
	struct patient_read *read = (struct patient_read *)call;

	read->got = memory_read_pieces(read->pid, -1, read->address, read->bytes, read->size);
}

static void patient_read_free(struct timed_call *call)
{
	free(call);
}

static ssize_t memory_read_patiently(pid_t pid, uint64_t address, void *bytes, size_t size,
				     struct call_patience *patience)
{
	size_t limit = PIECES * (size_t)sysconf(_SC_PAGESIZE);
	struct patient_read *read;
	ssize_t got;
	int code;

	size = size > limit ? limit : size;
	read = memory_alloc(1, sizeof(*read) + size);
	read->call = (struct timed_call){ patient_read_run, patient_read_free };
	read->pid = pid;
	read->address = address;
	read->size = size;
	code = timed_call_run(&read->call, patience);
	if (code)
		return code;
	got = read->got;
	if (got > 0)
		memcpy(bytes, read->bytes, (size_t)got);
	free(read);
	return got;
}

/* What of it lies in the first page. */
static size_t memory_to_border(uint64_t address, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), left = page - address % page;

	return size < left ? size : left;
}

ssize_t process_memory_read(pid_t pid, uint64_t address, void *bytes, size_t size,
			    struct call_patience *patience)
{
	size_t done = 0;
	ssize_t got = 0;

	size = memory_limit(address, size);
	while (done < size) {
		got = process_memory_read_present(pid, address + done, (char *)bytes + done,
						  size - done);
		/* Where the kernel does not report which pages are present, none counts as present. */
		if (got == -ENODATA || got == -EACCES || got == -EPERM || got == -ESRCH)
			got = memory_read_patiently(
				pid, address + done, (char *)bytes + done,
				got == -ENODATA ? memory_to_border(address + done, size - done)
						: size - done,
				patience);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done ? (ssize_t)done : got;
}
