/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See page_share.h. */
#include "system/page_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/pagemap.h"

#define PAGES_AT_ONCE 512

int page_share_open(struct page_share *share, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	*share = (struct page_share){ .map = open(path, O_RDONLY | O_CLOEXEC),
				      .counts = -1,
				      .page_size = (uint64_t)sysconf(_SC_PAGESIZE) };
	if (share->map < 0)
		return -errno;
	share->counts = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC);
	return 0;
}

void page_share_close(struct page_share *share)
{
	if (share->map >= 0)
		close(share->map);
	if (share->counts >= 0)
		close(share->counts);
	share->map = share->counts = -1;
}

/* How many of `count` words there are at position `at`. */
static size_t share_read(int fd, uint64_t at, uint64_t *words, size_t count)
{
	ssize_t got = pread(fd, words, count * sizeof(*words), (off_t)(at * sizeof(*words)));

	return got < 0 ? 0 : (size_t)got / sizeof(*words);
}

/* Entries from the first on whose pages have numbers that follow each other, and are not the process's alone. */
static size_t share_run(const uint64_t *entries, size_t count)
{
	size_t i = 1;

	while (i < count && entries[i] & PAGEMAP_PRESENT && !(entries[i] & PAGEMAP_EXCLUSIVE) &&
	       (entries[i] & PAGEMAP_NUMBER) == (entries[0] & PAGEMAP_NUMBER) + i)
		i++;
	return i;
}

/* The share of `count` pages with numbers that follow each other. */
static uint64_t share_count(struct page_share *share, uint64_t number, size_t count)
{
	uint64_t counts[PAGES_AT_ONCE], bytes = 0;
	size_t got = 0, i;

	/* Without the privilege, all numbers are 0. */
	if (number && share->counts >= 0)
		got = share_read(share->counts, number, counts, count);
	for (i = 0; i < got; i++)
		bytes += share->page_size / (counts[i] ? counts[i] : 1);
	share->unknown_bytes += (count - got) * share->page_size;
	return bytes + (count - got) * share->page_size;
}

static uint64_t share_sum(struct page_share *share, const uint64_t *entries, size_t count)
{
	uint64_t bytes = 0;
	size_t i, run;

	for (i = 0; i < count; i += run) {
		run = 1;
		/* One that has gone meanwhile was present when it was counted. */
		if (!(entries[i] & PAGEMAP_PRESENT) || entries[i] & PAGEMAP_EXCLUSIVE) {
			bytes += share->page_size;
			continue;
		}
		run = share_run(entries + i, count - i);
		bytes += share_count(share, entries[i] & PAGEMAP_NUMBER, run);
	}
	return bytes;
}

uint64_t page_share_find(struct page_share *share, uint64_t start, uint64_t end, bool anonymous)
{
	uint64_t entries[PAGES_AT_ONCE], bytes = 0, count;
	size_t got;

	if (anonymous && share->anonymous_alone)
		return end - start;
	for (; start < end; start += got * share->page_size) {
		count = (end - start) / share->page_size;
		got = 0;
		if (!share->until_ns || clock_now_ns() < share->until_ns)
			got = share_read(share->map, start / share->page_size, entries,
					 count < PAGES_AT_ONCE ? count : PAGES_AT_ONCE);
		if (!got) {
			share->unknown_bytes += end - start;
			return bytes + (end - start);
		}
		bytes += share_sum(share, entries, got);
	}
	return bytes;
}

bool page_share_has_other(const struct page_share *share, uint64_t address)
{
	uint64_t entry;

	return share_read(share->map, address / share->page_size, &entry, 1) == 1 &&
	       entry & PAGEMAP_PRESENT && !(entry & PAGEMAP_EXCLUSIVE);
}
