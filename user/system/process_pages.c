/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See process_pages.h. */
#include "system/process_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/pagemap.h"

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
#define SCAN_FILE (1ull << 2)
#define SCAN_PRESENT (1ull << 3)
#define SCAN_SWAPPED (1ull << 4)
#define SCAN_ZERO (1ull << 5)
#define SCAN_HUGE (1ull << 6)
#define SCAN_GUARD (1ull << 8)
#define SCAN_REGIONS 256

/* Pages that are read in one call. */
#define READ_ENTRIES 256

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
					 .scans = true,
					 .guards = true };
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

/* The caller's part of a list. */
struct listing {
	struct process_pages *pages;
	const struct process_pages_sink *sink;
	uint64_t at, end;
};

static unsigned int scan_bits(uint64_t categories)
{
	unsigned int bits = 0;

	if (categories & SCAN_PRESENT)
		bits |= PROCESS_PAGE_PRESENT;
	else if (categories & SCAN_SWAPPED && !(categories & SCAN_GUARD))
		bits |= PROCESS_PAGE_SWAPPED;
	if (!bits)
		return 0;
	return bits | (categories & SCAN_FILE ? PROCESS_PAGE_FILE : 0) |
	       (categories & SCAN_HUGE ? PROCESS_PAGE_HUGE : 0) |
	       (categories & SCAN_ZERO ? PROCESS_PAGE_ZERO : 0);
}

/* Returns the number of regions, or a negative errno. */
static int listing_call(const struct listing *listing, struct scan_arguments *scan)
{
	int count;

	if (listing->pages->guards)
		scan->return_mask |= SCAN_GUARD;
	count = ioctl(listing->pages->map, SCAN_CALL, scan);
	if (count < 0 && errno == EINVAL && listing->pages->guards) {
		listing->pages->guards = false;
		scan->return_mask &= ~SCAN_GUARD;
		count = ioctl(listing->pages->map, SCAN_CALL, scan);
	}
	return count < 0 ? -errno : count;
}

/* List from `at` on, and let that be where the next call begins. Returns 0 or a negative errno. */
static int listing_scan(struct listing *listing, uint64_t end)
{
	struct scan_region regions[SCAN_REGIONS];
	struct scan_arguments scan = { .size = sizeof(scan),
				       .start = listing->at,
				       .end = end,
				       .regions = (uintptr_t)regions,
				       .region_count = SCAN_REGIONS,
				       .category_anyof_mask = SCAN_PRESENT | SCAN_SWAPPED,
				       .return_mask = SCAN_PRESENT | SCAN_SWAPPED | SCAN_FILE |
						      SCAN_ZERO | SCAN_HUGE };
	int count = listing_call(listing, &scan), i;

	if (count < 0)
		return count;
	for (i = 0; i < count && i < SCAN_REGIONS; i++)
		if (scan_bits(regions[i].categories))
			listing->sink->add(listing->sink->context, regions[i].start, regions[i].end,
					   scan_bits(regions[i].categories));
	if (scan.walk_end <= listing->at)
		return -EIO;
	listing->at = scan.walk_end;
	return 0;
}

static unsigned int entry_bits(const struct process_pages *pages, uint64_t entry)
{
	unsigned int file = entry & PAGEMAP_FILE ? PROCESS_PAGE_FILE : 0;

	if (entry & PAGEMAP_PRESENT)
		return PROCESS_PAGE_PRESENT | file |
		       ((entry & PAGEMAP_NUMBER) == pages->zero ? PROCESS_PAGE_ZERO : 0);
	if (entry & PAGEMAP_SWAPPED && !(entry & (PAGEMAP_GUARD | PAGEMAP_MARKED)))
		return PROCESS_PAGE_SWAPPED | file;
	return 0;
}

/* As many entries as there are, at most `count`. Returns their number or a negative errno. */
static ssize_t pages_read_entries(const struct process_pages *pages, uint64_t address,
				  uint64_t *entries, size_t count)
{
	ssize_t got = pread(pages->map, entries, count * sizeof(entries[0]),
			    (off_t)(address / pages->page_size * sizeof(entries[0])));

	if (got < (ssize_t)sizeof(entries[0]))
		return got < 0 ? -errno : -EIO;
	return got / (ssize_t)sizeof(entries[0]);
}

/*
 * The number of the kernel's page of zeroes: that of pages that were read and never written. Some kernels have none; then pages that
 * were only read have a number each.
 */
static uint64_t pages_find_zero(const struct process_pages *pages)
{
	size_t size = 2 * pages->page_size;
	volatile unsigned char *memory =
		mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t entries[2] = { 0 };
	struct process_pages own = { .map = pages_open_file(getpid(), "pagemap"),
				     .page_size = pages->page_size };

	if ((void *)memory != MAP_FAILED && own.map >= 0 && !memory[0] && !memory[pages->page_size])
		pages_read_entries(&own, (uintptr_t)memory, entries, 2);
	if (own.map >= 0)
		close(own.map);
	if ((void *)memory != MAP_FAILED)
		munmap((void *)memory, size);
	if (!(entries[0] & PAGEMAP_NUMBER) || (entries[0] ^ entries[1]) & PAGEMAP_NUMBER)
		return UINT64_MAX;
	return entries[0] & PAGEMAP_NUMBER;
}

/* The same where the kernel is older. */
static int listing_read(struct listing *listing, uint64_t end)
{
	uint64_t entries[PAGES_AT_ONCE], page = listing->pages->page_size;
	uint64_t count = (end - listing->at) / page;
	ssize_t got, i, next;
	unsigned int bits;

	if (!listing->pages->zero)
		listing->pages->zero = pages_find_zero(listing->pages);
	if (count > PAGES_AT_ONCE)
		count = PAGES_AT_ONCE;
	got = pages_read_entries(listing->pages, listing->at, entries, count);
	if (got < 0)
		return (int)got;
	for (i = 0; i < got; i = next) {
		bits = entry_bits(listing->pages, entries[i]);
		for (next = i + 1; next < got && entry_bits(listing->pages, entries[next]) == bits;
		     next++)
			;
		if (bits)
			listing->sink->add(listing->sink->context, listing->at + (uint64_t)i * page,
					   listing->at + (uint64_t)next * page, bits);
	}
	listing->at += (uint64_t)got * page;
	return 0;
}

/* One step, of at most `step` bytes. */
static int listing_step(struct listing *listing, uint64_t step)
{
	uint64_t until = listing->end - listing->at > step ? listing->at + step : listing->end;
	int code;

	if (listing->pages->scans) {
		code = listing_scan(listing, until);
		if (code != -ENOTTY && code != -EINVAL)
			return code;
		listing->pages->scans = false;
	}
	return listing_read(listing, until);
}

/* Has the process memory still? A scan of one that has ended finds no pages, and does not fail. */
static bool pages_exist(const struct process_pages *pages)
{
	uint64_t entry;

	return pread(pages->map, &entry, sizeof(entry), 0) == sizeof(entry);
}

bool process_pages_list(struct process_pages *pages, uint64_t start, uint64_t end,
			uint64_t until_ns, const struct process_pages_sink *sink)
{
	struct listing listing = { pages, sink, start, end };
	uint64_t step = (end - start) / STEP_SHARE & ~(STEP_MIN - 1);

	if (step < STEP_MIN)
		step = STEP_MIN;
	while (listing.at < end)
		if (clock_now_ns() >= until_ns || listing_step(&listing, step))
			return false;
	return pages_exist(pages);
}

static void count_add(void *context, uint64_t start, uint64_t end, unsigned int bits)
{
	if (bits & PROCESS_PAGE_PRESENT)
		*(uint64_t *)context += end - start;
}

bool process_pages_count(struct process_pages *pages, uint64_t start, uint64_t end,
			 uint64_t until_ns, uint64_t *ret_bytes)
{
	uint64_t bytes = 0;
	const struct process_pages_sink sink = { count_add, &bytes };

	if (!process_pages_list(pages, start, end, until_ns, &sink))
		return false;
	*ret_bytes = bytes;
	return true;
}

/* The end of the pages from `address` on that are like this, as far as one call reads. */
static uint64_t pages_until(const struct process_pages *pages, uint64_t address, size_t size,
			    uint64_t mask, uint64_t wanted)
{
	uint64_t entries[READ_ENTRIES], page = pages->page_size;
	uint64_t first = address & ~(page - 1), count = (address - first + size - 1) / page + 1;
	ssize_t got, i;

	got = pages_read_entries(pages, first, entries,
				 count < READ_ENTRIES ? count : READ_ENTRIES);
	for (i = 0; i < got && (entries[i] & mask) == wanted; i++)
		;
	return i ? first + (uint64_t)i * page : address;
}

uint64_t process_pages_absent_until(const struct process_pages *pages, uint64_t address,
				    size_t size)
{
	return pages_until(pages, address, size, PAGEMAP_PRESENT | PAGEMAP_SWAPPED, 0);
}

uint64_t process_pages_anonymous_until(const struct process_pages *pages, uint64_t address,
				       size_t size)
{
	return pages_until(pages, address, size, PAGEMAP_PRESENT | PAGEMAP_FILE, PAGEMAP_PRESENT);
}

/*
 * A page in each call. The kernel locks the process's mappings for each page, and before it copies that gives the CPU to others if they have waited
 * long enough. With several pages in a call that is where it happens nearly always, and the process waits for its mappings until the tracer has a CPU
 * again; with one, it mostly happens between two calls.
 */
static size_t pages_copy(const struct process_pages *pages, uint64_t address, unsigned char *bytes,
			 size_t size)
{
	size_t done, part;
	ssize_t got;

	for (done = 0; done < size; done += part) {
		part = (size_t)(pages->page_size - (address + done) % pages->page_size);
		part = part < size - done ? part : size - done;
		got = pread(pages->memory, bytes + done, part, (off_t)(address + done));
		if (got < (ssize_t)part)
			return got > 0 ? done + (size_t)got : done;
	}
	return done;
}

size_t process_pages_read_part(struct process_pages *pages, uint64_t address, void *bytes,
			       size_t size)
{
	size_t done = 0, part, got;
	uint64_t until;

	if (address > INT64_MAX || size > INT64_MAX - address)
		return 0;
	while (done < size) {
		until = pages_until(pages, address + done, size - done, PAGEMAP_PRESENT,
				    PAGEMAP_PRESENT);
		if (until <= address + done)
			break;
		part = until - (address + done) < size - done ? until - (address + done)
							      : size - done;
		got = pages_copy(pages, address + done, (unsigned char *)bytes + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

bool process_pages_read(struct process_pages *pages, uint64_t address, void *bytes, size_t size)
{
	return size && process_pages_read_part(pages, address, bytes, size) == size;
}
