/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See process_pages.h. */
#include "system/process_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

/* Entries of /proc/PID/pagemap. */
#define PAGE_PRESENT (1ull << 63)

/* What is looked at in one call: of a reservation of many gigabytes, this part. */
#define STEP_MIN (8ull << 20)
#define STEP_SHARE 1024
#define PAGES_AT_ONCE 2048

/* Linux 6.7; older headers lack it. */
struct scan_region {
	__u64 start, end, categories;
};

struct scan_arguments {
	__u64 size, flags, start, end, walk_end, regions, region_count, max_pages;
	__u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define SCAN_CALL _IOWR('f', 16, struct scan_arguments)
#define SCAN_PRESENT (1ull << 3)
#define SCAN_REGIONS 256

static int pages_open_file(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int process_pages_open(struct process_pages *pages, pid_t pid)
{
	*pages = (struct process_pages){ .map = pages_open_file(pid, "pagemap"),
					 .memory = -1,
					 .page_size = (uint64_t)sysconf(_SC_PAGESIZE),
					 .scans = true };
	if (pages->map < 0)
		return pages->map;
	pages->memory = pages_open_file(pid, "mem");
	return 0;
}

void process_pages_close(struct process_pages *pages)
{
	if (pages->map >= 0)
		close(pages->map);
	if (pages->memory >= 0)
		close(pages->memory);
	pages->map = pages->memory = -1;
}

static bool pages_is_present(const struct process_pages *pages, uint64_t page)
{
	uint64_t entry;

	return pread(pages->map, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
		       sizeof(entry) &&
	       entry & PAGE_PRESENT;
}

bool process_pages_read(const struct process_pages *pages, uint64_t address, void *bytes,
			size_t size)
{
	uint64_t first = address / pages->page_size, last, page;

	if (!size || address + size < address || address + size > INT64_MAX)
		return false;
	last = (address + size - 1) / pages->page_size;
	for (page = first; page <= last; page++)
		if (!pages_is_present(pages, page))
			return false;
	return pread(pages->memory, bytes, size, (off_t)address) == (ssize_t)size;
}

/* Count from `*at` on, and let that be where the next call begins. Returns 0 or a negative errno. */
static int pages_scan(const struct process_pages *pages, uint64_t *at, uint64_t end,
		      uint64_t *bytes)
{
	struct scan_region regions[SCAN_REGIONS];
	struct scan_arguments scan = { .size = sizeof(scan),
				       .start = *at,
				       .end = end,
				       .regions = (uintptr_t)regions,
				       .region_count = SCAN_REGIONS,
				       .category_mask = SCAN_PRESENT,
				       .return_mask = SCAN_PRESENT };
	int count = ioctl(pages->map, SCAN_CALL, &scan), i;

	if (count < 0)
		return -errno;
	for (i = 0; i < count && i < SCAN_REGIONS; i++)
		*bytes += regions[i].end - regions[i].start;
	if (scan.walk_end <= *at)
		return -EIO;
	*at = scan.walk_end;
	return 0;
}

/* The same where the kernel is older. */
static int pages_read_map(const struct process_pages *pages, uint64_t *at, uint64_t end,
			  uint64_t *bytes)
{
	uint64_t entries[PAGES_AT_ONCE], count = (end - *at) / pages->page_size;
	ssize_t got, i;

	if (count > PAGES_AT_ONCE)
		count = PAGES_AT_ONCE;
	got = pread(pages->map, entries, count * sizeof(entries[0]),
		    (off_t)(*at / pages->page_size * sizeof(entries[0])));
	if (got < (ssize_t)sizeof(entries[0]))
		return got < 0 ? -errno : -EIO;
	got /= (ssize_t)sizeof(entries[0]);
	for (i = 0; i < got; i++)
		if (entries[i] & PAGE_PRESENT)
			*bytes += pages->page_size;
	*at += (uint64_t)got * pages->page_size;
	return 0;
}

/* One step, of at most `step` bytes. */
static int pages_step(struct process_pages *pages, uint64_t step, uint64_t *at, uint64_t end,
		      uint64_t *bytes)
{
	uint64_t until = end - *at > step ? *at + step : end;
	int code;

	if (pages->scans) {
		code = pages_scan(pages, at, until, bytes);
		if (code != -ENOTTY && code != -EINVAL)
			return code;
		pages->scans = false;
	}
	return pages_read_map(pages, at, until, bytes);
}

bool process_pages_count(struct process_pages *pages, uint64_t start, uint64_t end,
			 uint64_t until_ns, uint64_t *ret_bytes)
{
	uint64_t bytes = 0, step = (end - start) / STEP_SHARE & ~(STEP_MIN - 1);

	if (step < STEP_MIN)
		step = STEP_MIN;
	while (start < end) {
		if (clock_now_ns() >= until_ns || pages_step(pages, step, &start, end, &bytes))
			return false;
	}
	*ret_bytes = bytes;
	return true;
}
