/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's share of its pages (PSS), page by page: by how many mappings the kernel counts for each. Unlike smaps and
 * smaps_rollup it does not hold the lock of the process's mappings. Needs CAP_SYS_ADMIN; without, pages of one process alone are
 * known, and others count in full.
 */
#ifndef SYSTEM_PAGE_SHARE_H
#define SYSTEM_PAGE_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct page_share {
	int map; /* /proc/PID/pagemap */
	int counts; /* /proc/kpagecount; negative = not ours to read */
	uint64_t page_size;
	bool anonymous_alone; /* anonymous pages are not asked about: a sample has shown that no other process has any */
	uint64_t until_ns; /* CLOCK_MONOTONIC: later pages count in full; 0 = no limit */
	uint64_t unknown_bytes; /* of pages that counted in full since their share is not known */
};

/* Returns 0, or a negative errno if nothing can be found out. Close with page_share_close. */
int page_share_open(struct page_share *share, pid_t pid);
void page_share_close(struct page_share *share);

/* Bytes of the pages of [start, end), which are present, that are the process's. `anonymous`: of no file. */
uint64_t page_share_find(struct page_share *share, uint64_t start, uint64_t end, bool anonymous);

/* Does another process map the page, too? False also where that is not known. */
bool page_share_has_other(const struct page_share *share, uint64_t address);

#endif
