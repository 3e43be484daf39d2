/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of another process that are in memory, looked at from outside: it is not stopped, none of its pages is brought in, and
 * none that it shares since a fork is copied for it.
 */
#ifndef SYSTEM_PROCESS_PAGES_H
#define SYSTEM_PROCESS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_pages {
	int map, memory; /* of /proc/PID; negative = not ours to open */
	uint64_t page_size;
	bool scans; /* the kernel has PAGEMAP_SCAN, as far as is known */
};

/* Returns 0, or a negative errno if nothing can be found out. Close with process_pages_close. */
int process_pages_open(struct process_pages *pages, pid_t pid);
/* Accepts what process_pages_open has failed for. */
void process_pages_close(struct process_pages *pages);

/* Copy `size` bytes at `address`. False if not all are there, or one of their pages is not in memory. */
bool process_pages_read(const struct process_pages *pages, uint64_t address, void *bytes,
			size_t size);

/*
 * How many bytes of [start, end), which begins and ends with a page, are in memory. It takes the kernel's lock of the process's
 * mappings for moments only. False if that cannot be read, or not before `until_ns` (CLOCK_MONOTONIC).
 */
bool process_pages_count(struct process_pages *pages, uint64_t start, uint64_t end,
			 uint64_t until_ns, uint64_t *ret_bytes);

#endif
