/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See breakpoints.h. */
#include "kernel/breakpoints.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Entries of /proc/PID/pagemap. */
#define PAGE_PRESENT (1ULL << 63)
#define PAGE_SWAPPED (1ULL << 62)
#define PAGE_OF_FILE (1ULL << 61)
#define PAGE_MARKED \
	(1ULL << 57) /* with PAGE_SWAPPED: there is no page, but userfaultfd watches it */

#if defined(__x86_64__)
/* int3; or a call, into which the kernel turns probes on 5-byte nops. */
#define BREAKPOINT_BYTES 1
#define CODE_INT3 0xcc
#define CODE_CALL 0xe8
#else
#define BREAKPOINT_BYTES 4
#endif

/* As many bytes as are not the same by chance. */
#define COPY_BYTES 16

bool breakpoints_open(struct breakpoints *breakpoints, pid_t pid)
{
	char path[64];

	*breakpoints = (struct breakpoints){ .page_size = (uint64_t)sysconf(_SC_PAGESIZE) };
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	breakpoints->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (breakpoints->pagemap < 0)
		return false;
	/* Not process_vm_readv: it gives each of several processes that share a page since a fork a copy of its own. */
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	breakpoints->memory = open(path, O_RDONLY | O_CLOEXEC);
	if (breakpoints->memory >= 0)
		return true;
	close(breakpoints->pagemap);
	return false;
}

void breakpoints_close(struct breakpoints *breakpoints)
{
	close(breakpoints->pagemap);
	close(breakpoints->memory);
}

/* False if it cannot be read. */
static bool breakpoints_find_page(struct breakpoints *breakpoints, uint64_t address)
{
	uint64_t page = address / breakpoints->page_size;

	if (breakpoints->page == page + 1)
		return true;
	if (pread(breakpoints->pagemap, &breakpoints->entry, sizeof(breakpoints->entry),
		  (off_t)(page * sizeof(breakpoints->entry))) != sizeof(breakpoints->entry))
		return false;
	breakpoints->page = page + 1;
	return true;
}

/* Bytes that lie in the page that was found, which is present. */
static bool breakpoints_read(const struct breakpoints *breakpoints, uint64_t address,
			     unsigned char *bytes, size_t size)
{
	return pread(breakpoints->memory, bytes, size, (off_t)address) == (ssize_t)size;
}

static bool is_breakpoint(const unsigned char *theirs, int file, uint64_t offset)
{
	unsigned char ours[BREAKPOINT_BYTES];

#if defined(__x86_64__)
	if (theirs[0] == CODE_INT3)
		return true;
	if (theirs[0] != CODE_CALL)
		return false;
#endif
	return pread(file, ours, sizeof(ours), (off_t)offset) != (ssize_t)sizeof(ours) ||
	       memcmp(theirs, ours, sizeof(ours)) != 0;
}

bool breakpoints_has(struct breakpoints *breakpoints, uint64_t address, int file, uint64_t offset)
{
	unsigned char theirs[BREAKPOINT_BYTES];

	if (!breakpoints_find_page(breakpoints, address))
		return true;
	if (breakpoints->entry & PAGE_SWAPPED && !(breakpoints->entry & PAGE_MARKED))
		return true;
	if (!(breakpoints->entry & PAGE_PRESENT) || breakpoints->entry & PAGE_OF_FILE)
		return false;
	return !breakpoints_read(breakpoints, address, theirs, sizeof(theirs)) ||
	       is_breakpoint(theirs, file, offset);
}

bool breakpoints_is_copy(struct breakpoints *breakpoints, uint64_t address, int file,
			 uint64_t offset)
{
	unsigned char theirs[COPY_BYTES], ours[COPY_BYTES];
	size_t size = COPY_BYTES, rest;

	if (!breakpoints_find_page(breakpoints, address) || !(breakpoints->entry & PAGE_PRESENT))
		return false;
	rest = breakpoints->page_size - address % breakpoints->page_size;
	size = size < rest ? size : rest;
	return breakpoints_read(breakpoints, address, theirs, size) &&
	       pread(file, ours, size, (off_t)offset) == (ssize_t)size &&
	       !memcmp(theirs, ours, size);
}
