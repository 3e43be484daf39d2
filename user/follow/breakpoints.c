/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See breakpoints.h. */
#include "follow/breakpoints.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/pagemap.h"
#include "system/process_memory.h"

#if defined(__x86_64__)
/* int3; or a call, into which the kernel turns probes on 5-byte nops. */
#define BREAKPOINT_BYTES 1
#define CODE_INT3 0xcc
#define CODE_CALL 0xe8
#else
#define BREAKPOINT_BYTES 4
#endif

/* Where it is not known whether a page is present, reading it may take this long. */
#define PATIENCE_NS 100000000

/* As many bytes as are not the same by chance. */
#define COPY_BYTES 16

static int breakpoints_open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void breakpoints_open(struct breakpoints *breakpoints, pid_t pid)
{
	*breakpoints = (struct breakpoints){
		.pid = pid,
		.pagemap = breakpoints_open_file(pid, "pagemap"),
		.memory = breakpoints_open_file(pid, "mem"),
		.patience = { .full_ns = PATIENCE_NS },
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
	};
}

void breakpoints_close(struct breakpoints *breakpoints)
{
	if (breakpoints->pagemap >= 0)
		close(breakpoints->pagemap);
	if (breakpoints->memory >= 0)
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

/*
 * Bytes that lie in the page that was found, which is present. Not by process_vm_readv where it can be helped: that gives each
 * of several processes that share a page since a fork a copy of its own.
 */
static bool breakpoints_read(struct breakpoints *breakpoints, uint64_t address,
			     unsigned char *bytes, size_t size)
{
	if (breakpoints->memory >= 0)
		return pread(breakpoints->memory, bytes, size, (off_t)address) == (ssize_t)size;
	return !breakpoints->patience.late &&
	       process_memory_read(breakpoints->pid, address, bytes, size,
				   &breakpoints->patience) == (ssize_t)size;
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

	if (breakpoints->pagemap < 0)
		return !breakpoints_read(breakpoints, address, theirs, sizeof(theirs)) ||
		       is_breakpoint(theirs, file, offset);
	if (!breakpoints_find_page(breakpoints, address))
		return true;
	if (breakpoints->entry & PAGEMAP_SWAPPED && !(breakpoints->entry & PAGEMAP_MARKED))
		return true;
	if (!(breakpoints->entry & PAGEMAP_PRESENT) || breakpoints->entry & PAGEMAP_FILE)
		return false;
	return !breakpoints_read(breakpoints, address, theirs, sizeof(theirs)) ||
	       is_breakpoint(theirs, file, offset);
}

bool breakpoints_is_copy(struct breakpoints *breakpoints, uint64_t address, int file,
			 uint64_t offset)
{
	unsigned char theirs[COPY_BYTES], ours[COPY_BYTES];
	size_t size = COPY_BYTES, rest;

	if (breakpoints->pagemap >= 0 && (!breakpoints_find_page(breakpoints, address) ||
					  !(breakpoints->entry & PAGEMAP_PRESENT)))
		return false;
	rest = breakpoints->page_size - address % breakpoints->page_size;
	size = size < rest ? size : rest;
	return breakpoints_read(breakpoints, address, theirs, size) &&
	       pread(file, ours, size, (off_t)offset) == (ssize_t)size &&
	       !memcmp(theirs, ours, size);
}
