/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process, read from outside while it runs: its mappings, which of their pages are
 * resident, and their contents. Reading faults no page in, copies no page shared since a fork, and
 * stops nothing. Data may be torn, and is untrusted. All code that examines a process uses an
 * image, so it also runs on recorded images and on those of tests.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "system/program_identity.h"

/* A line of /proc/PID/maps. */
struct image_mapping {
	uint64_t start, end;
	uint64_t file_offset;
	uint64_t device, inode; /* 0: of no file */
	bool readable, writable, executable, shared;
	bool deleted;
	/*
	 * Reading may have a side effect, or it is unknown whether it has: only anonymous pages of a
	 * private mapping are read, which are the process's own.
	 */
	bool device_memory;
	/* A stored file that has not changed since the process began has no address of it. */
	bool unchanged;
	bool huge_pages; /* hugetlbfs */
	/* A path, "[heap]", "[anon: ...]", or ""; untrusted text, owned by the image. */
	const char *name;
};

/* A mapped ring of io_uring: no device, but memory that the kernel shares with the process. */
#define IMAGE_RING_NAME "anon_inode:[io_uring]"

/* The state of a page, as bits. */
enum image_page {
	IMAGE_PRESENT = 1,
	IMAGE_SWAPPED = 2,
	IMAGE_FILE = 4, /* file-backed or shared memory; otherwise anonymous */
	IMAGE_HUGE = 8,
	/* No other process maps it; only set if the kernel was asked: image_pages_exclusive. */
	IMAGE_EXCLUSIVE = 16,
	IMAGE_ZERO = 32, /* the kernel's zero page: present, but not in RSS */
};

/* Consecutive pages with the same bits, at least one of them set. */
struct image_run {
	uint64_t start, end;
	unsigned int bits;
};

/* The cost of reading. */
struct image_usage {
	uint64_t bytes, reads; /* read of the process */
};

struct image;

/* The source of the bytes: a live process, a recording, a test. */
struct image_source {
	/* Copy bytes of present pages; returns the number of bytes read from the start. */
	size_t (*read)(void *context, uint64_t address, void *bytes, size_t size);
	/* The same of anonymous pages only, whatever the mapping. NULL = unsupported. */
	size_t (*read_anonymous)(void *context, uint64_t address, void *bytes, size_t size);
	/* The same from the file behind a read-only private mapping. NULL = unsupported. */
	size_t (*read_file)(void *context, const struct image_mapping *mapping, uint64_t address,
			    void *bytes, size_t size);
	/*
	 * Pass all mappings to image_add_mapping; if there are more, set `pages_unknown`. False if
	 * the process is gone.
	 */
	bool (*mappings)(void *context, struct image *image);
	/*
	 * Pass all pages of the mapping [start, end) to image_add_pages. False if they are unknown.
	 */
	bool (*pages)(void *context, struct image *image, uint64_t start, uint64_t end);
	/* False if the process is gone, or runs another program. NULL = always alive. */
	bool (*alive)(void *context);
	void (*close)(void *context);
};

struct image_patience;
struct image_keep;
struct proc_mapping;

/* Calls into image_keep.h of an image that keeps a copy of what is read. */
struct image_keep_calls {
	/* Copy from what is kept; returns the number of bytes read from the start. */
	size_t (*read)(struct image *image, uint64_t address, void *bytes, size_t size);
	void (*forget)(struct image *image);
	void (*end)(struct image *image);
};

struct image {
	const struct image_source *source;
	void *context;
	pid_t pid; /* 0 = a recording */
	pid_t thread; /* the thread used for reading: pid, unless its first thread has ended */
	/* Pid in the innermost pid namespace, as the process itself sees it; 0 = unknown */
	pid_t own_pid;
	struct program_identity program; /* zeroed for a recording */
	uint64_t page_size;
	struct image_mapping *mappings; /* in address order, not overlapping */
	size_t mapping_count, mapping_capacity;
	/* All pages that are present or swapped out, in address order. */
	struct image_run *runs;
	size_t run_count, run_capacity;
	size_t mapping_last, run_last; /* where the last search ended */
	bool pages_unknown; /* the pages of some mappings are unknown */
	bool mappings_cut; /* there are more mappings than are listed */
	bool huge_unknown; /* huge pages are not marked: the kernel does not show them */
	size_t refreshes; /* number of listings of mappings and pages */
	struct image_usage usage;
	/* For census_heaps.h, a bit per allocator: found at any time; refused the last time. */
	uint32_t heaps_found, heaps_refused;
	/*
	 * CLOCK_MONOTONIC: later reads fail, and pages not listed by image_refresh stay unknown; 0
	 * = no limit.
	 */
	uint64_t until_ns;
	const struct image_patience *patience; /* NULL = until_ns is final */
	struct image_keep *keep; /* NULL = nothing is kept */
	const struct image_keep_calls *keep_calls; /* NULL likewise */
};

/* Controls the time limit of an image. */
struct image_patience {
	/* Nanoseconds by which to extend until_ns, which has passed; 0 = final. */
	uint64_t (*extend)(void *context);
	/* Must everything end now? */
	bool (*is_over)(void);
	void *context;
};

/* Is the time over? Then reads fail. */
bool image_is_over(struct image *image);

/* Is [address, address + size) in one mapping? */
bool image_holds(const struct image *image, uint64_t address, uint64_t size);
/* The mapping containing `address`, or NULL. */
const struct image_mapping *image_find(const struct image *image, uint64_t address);
/* The index of the first mapping that ends after `address`; mapping_count if none. */
size_t image_find_index(const struct image *image, uint64_t address);
/* Convert to the struct of system/proc.h; the path belongs to the image. */
struct proc_mapping image_proc_mapping(const struct image_mapping *mapping);

/*
 * Copy `size` bytes at `address`; false unless all are resident (or, for a file's read-only private
 * mapping, in the file).
 */
bool image_read(struct image *image, uint64_t address, void *bytes, size_t size);
/* The same for as many bytes as can be read from the start; returns their number. */
size_t image_read_part(struct image *image, uint64_t address, void *bytes, size_t size);
/* A word; 0 where it cannot be read. */
uint64_t image_word(struct image *image, uint64_t address);

/*
 * The next run of pages in [address, end) that are present or swapped out, as of the last
 * image_refresh: true with `ret_run`, clipped to the range.
 */
bool image_next_run(struct image *image, uint64_t address, uint64_t end, struct image_run *ret_run);
/*
 * The next run of present pages in [address, end): true with its start and end, clipped to the
 * range.
 */
bool image_next_present(struct image *image, uint64_t address, uint64_t end, uint64_t *ret_start,
			uint64_t *ret_end);
/* Bits of the page containing `address`; 0 = no page, or unknown. As of the last image_refresh. */
unsigned int image_page(struct image *image, uint64_t address);

/*
 * List mappings and pages again. False if the process is gone or runs another program; also if the
 * new lists are truncated and the old ones are longer: these stay.
 */
bool image_refresh(struct image *image);
/*
 * The same, repeated while lists are truncated and time is left. Returns 0, or a negative errno
 * with `error` filled: -ESRCH if the process is gone, or runs another program; -ETIMEDOUT if lists
 * were truncated each time.
 */
int image_refresh_whole(struct image *image, struct error *error);
/* Does the process exist, and run the same program as when the image was opened? */
bool image_is_alive(const struct image *image);

/*
 * Open the image of a live process. `until_ns` (0 = a default) limits the listing, and is the
 * image's initial limit. Returns 0, or a negative errno with `error` filled: -ESTALE if the process
 * executed another program meanwhile. Free with image_free.
 */
int image_open(pid_t pid, uint64_t until_ns, struct image **ret_image, struct error *error);
void image_free(struct image *image);

/*
 * For sources: create an image without mappings, which image_refresh lists. It closes the source
 * when it is freed.
 */
struct image *image_new(const struct image_source *source, void *context, uint64_t page_size);
/*
 * Append a copy of a mapping and its name. Ignores one that is no range of pages, or begins before
 * the last one ends.
 */
void image_add_mapping(struct image *image, const struct image_mapping *mapping);
/* Append pages; ignored under the same rules as mappings, and if `bits` is 0. */
void image_add_pages(struct image *image, uint64_t start, uint64_t end, unsigned int bits);

#endif
