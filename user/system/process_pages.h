/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Examines the resident pages of another process from outside: does not stop it, faults in no page,
 * and copies no page that it shares since a fork.
 */
#ifndef SYSTEM_PROCESS_PAGES_H
#define SYSTEM_PROCESS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_pages {
	int map, memory; /* /proc/PID/pagemap and mem; negative = no permission */
	uint64_t page_size;
	/* Frame number of the kernel's zero page; UINT64_MAX = unknown, 0 = not determined yet. */
	uint64_t zero;
	bool scans; /* the kernel has PAGEMAP_SCAN (Linux 6.7), as far as known */
	/* It distinguishes guard pages from swapped ones (Linux 6.15), as far as known */
	bool guards;
};

/* Returns 0, or a negative errno if nothing can be read. Close with process_pages_close. */
int process_pages_open(struct process_pages *pages, pid_t pid);
/* Accepts a struct that process_pages_open has failed on. */
void process_pages_close(struct process_pages *pages);

/* The state of a page, as bits. */
enum process_page {
	PROCESS_PAGE_PRESENT = 1,
	PROCESS_PAGE_SWAPPED = 2,
	PROCESS_PAGE_FILE = 4, /* file-backed or shared memory; otherwise anonymous */
	PROCESS_PAGE_HUGE = 8,
	PROCESS_PAGE_ZERO = 32, /* the kernel's zero page */
};

/* Receives runs of pages in address order, with bits of `enum process_page`. */
struct process_pages_sink {
	void (*add)(void *context, uint64_t start, uint64_t end, unsigned int bits);
	void *context;
};

/*
 * List the pages of the page-aligned range [start, end). Takes the kernel's lock of the mappings
 * only briefly. False if it cannot be read, or not before `until_ns` (CLOCK_MONOTONIC).
 */
bool process_pages_list(struct process_pages *pages, uint64_t start, uint64_t end,
			uint64_t until_ns, const struct process_pages_sink *sink);

/*
 * Copy up to `size` bytes at `address` from resident pages. Returns the number of bytes read from
 * the start.
 */
size_t process_pages_read_part(struct process_pages *pages, uint64_t address, void *bytes,
			       size_t size);
/*
 * The end of the run of pages, beginning with that of `address`, that are neither resident nor
 * swapped out: limited to `size` bytes and to one read of the page map. Returns `address` if the
 * first page is not absent.
 */
uint64_t process_pages_absent_until(const struct process_pages *pages, uint64_t address,
				    size_t size);
/* The same of resident pages of no file: anonymous memory, or some devices'. */
uint64_t process_pages_anonymous_until(const struct process_pages *pages, uint64_t address,
				       size_t size);
/* Copy `size` bytes at `address`. False unless all their pages are resident. */
bool process_pages_read(struct process_pages *pages, uint64_t address, void *bytes, size_t size);

/* Count the resident bytes of the page-aligned range [start, end). False as process_pages_list. */
bool process_pages_count(struct process_pages *pages, uint64_t start, uint64_t end,
			 uint64_t until_ns, uint64_t *ret_bytes);

#endif
