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
	/* The number of the kernel's page of zeroes; UINT64_MAX = unknown, 0 = not looked for. */
	uint64_t zero;
	bool scans; /* the kernel has PAGEMAP_SCAN, as far as is known (Linux 6.7) */
	bool guards; /* it distinguishes guard pages from swapped ones, as far as is known (Linux 6.15) */
};

/* Returns 0, or a negative errno if nothing can be found out. Close with process_pages_close. */
int process_pages_open(struct process_pages *pages, pid_t pid);
/* Accepts what process_pages_open has failed for. */
void process_pages_close(struct process_pages *pages);

/* What is known of a page, as bits. */
enum process_page {
	PROCESS_PAGE_PRESENT = 1,
	PROCESS_PAGE_SWAPPED = 2,
	PROCESS_PAGE_FILE = 4, /* of a file or of shared memory; without it: anonymous */
	PROCESS_PAGE_HUGE = 8,
	PROCESS_PAGE_ZERO = 32, /* the kernel's page of zeroes */
};

/* Gets runs of pages in the order of addresses, with bits of `enum process_page`. */
struct process_pages_sink {
	void (*add)(void *context, uint64_t start, uint64_t end, unsigned int bits);
	void *context;
};

/*
 * What there is in [start, end), which begins and ends with a page. It takes the kernel's lock of the process's mappings for moments
 * only. False if that cannot be read, or not before `until_ns` (CLOCK_MONOTONIC).
 */
bool process_pages_list(struct process_pages *pages, uint64_t start, uint64_t end,
			uint64_t until_ns, const struct process_pages_sink *sink);

/* Copy up to `size` bytes at `address` of pages that are in memory. Returns how many there were from the start. */
size_t process_pages_read_part(struct process_pages *pages, uint64_t address, void *bytes,
			       size_t size);
/*
 * The end of the pages of which there is nothing, neither in memory nor swapped out, from that of `address` on: at most `size` bytes,
 * and what one call reads. `address` if there is none.
 */
uint64_t process_pages_absent_until(const struct process_pages *pages, uint64_t address,
				    size_t size);
/* Copy `size` bytes at `address`. False if not all are there, or one of their pages is not in memory. */
bool process_pages_read(struct process_pages *pages, uint64_t address, void *bytes, size_t size);

/*
 * How many bytes of [start, end), which begins and ends with a page, are in memory. False as process_pages_list.
 */
bool process_pages_count(struct process_pages *pages, uint64_t start, uint64_t end,
			 uint64_t until_ns, uint64_t *ret_bytes);

#endif
