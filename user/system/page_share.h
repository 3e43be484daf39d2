/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's proportional share of its pages (PSS), from the kernel's mapping count of each page.
 * Unlike reads of smaps and smaps_rollup, this does not hold the lock of the process's mappings.
 * Needs CAP_SYS_ADMIN; without it, only exclusive pages are recognized, and others count in full.
 */
#ifndef SYSTEM_PAGE_SHARE_H
#define SYSTEM_PAGE_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct page_share {
	int map; /* /proc/PID/pagemap */
	int counts; /* /proc/kpagecount; negative = no permission */
	uint64_t page_size;
	bool anonymous_alone; /* skip anonymous pages: a sample has shown that none is shared */
	uint64_t until_ns; /* CLOCK_MONOTONIC: later pages count in full; 0 = no limit */
	uint64_t unknown_bytes; /* pages counted in full because their share is unknown */
};

/* Returns 0, or a negative errno if nothing can be read. Close with page_share_close. */
int page_share_open(struct page_share *share, pid_t pid);
void page_share_close(struct page_share *share);

/*
 * The process's share, in bytes, of the present pages in [start, end). `anonymous`: they belong to
 * no file.
 */
uint64_t page_share_find(struct page_share *share, uint64_t start, uint64_t end, bool anonymous);

/* Does another process also map the page? False if unknown. */
bool page_share_has_other(const struct page_share *share, uint64_t address);

#endif
