/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process, looked at from outside while it runs: its mappings, which of their pages are in memory, and what these
 * hold. Looking brings no page in, copies none that is shared since a fork, and stops nothing. What is read may be torn, and is
 * untrusted. Everything that looks into a process does it through an image, so all of it also runs on recorded images and on
 * those that a test makes up.
 */
#ifndef HEAP_IMAGE_H
#define HEAP_IMAGE_H

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
	/* A read may have an effect, or it is not known that it has none: it is never read. */
	bool device_memory;
	bool huge_pages; /* of hugetlbfs */
	/* A path, "[heap]", "[anon: ...]", or ""; untrusted text, owned by the image. */
	const char *name;
};

/* What is known of a page, as bits. */
enum image_page {
	IMAGE_PRESENT = 1,
	IMAGE_SWAPPED = 2,
	IMAGE_FILE = 4, /* of a file or of shared memory; without it: anonymous */
	IMAGE_HUGE = 8,
	/* No other process maps it; only where the kernel was asked for it: image_pages_exclusive. */
	IMAGE_EXCLUSIVE = 16,
	IMAGE_ZERO = 32, /* the kernel's page of zeroes: present, and not in RSS */
};

/* Pages that follow each other and have the same bits, at least one of them. */
struct image_run {
	uint64_t start, end;
	unsigned int bits;
};

/* What looking has cost. */
struct image_usage {
	uint64_t bytes, reads; /* read of the process */
};

struct image;

/* Where the bytes come from: a live process, a recording, a test. */
struct image_source {
	/* Copy bytes of pages that are present now; returns how many there were from the start, 0 = none. */
	size_t (*read)(void *context, uint64_t address, void *bytes, size_t size);
	/* The same of the file behind a mapping that is read-only and private. NULL = there is none. */
	size_t (*read_file)(void *context, const struct image_mapping *mapping, uint64_t address,
			    void *bytes, size_t size);
	/* Give the image all mappings by image_add_mapping; if there are more, set `pages_unknown`. False if the process has gone. */
	bool (*mappings)(void *context, struct image *image);
	/* Give it all pages of [start, end), which is a mapping, by image_add_pages. False if they are not known. */
	bool (*pages)(void *context, struct image *image, uint64_t start, uint64_t end);
	/* Of a process that has gone, or executes another program: false. NULL = always there. */
	bool (*alive)(void *context);
	void (*close)(void *context);
};

struct image_patience;
struct image_keep;
struct proc_mapping;

/* What an image calls that keeps a copy of what is read: image_keep.h. */
struct image_keep_calls {
	/* Copy what is kept; returns how many bytes there were from the start. */
	size_t (*read)(struct image *image, uint64_t address, void *bytes, size_t size);
	void (*forget)(struct image *image);
	void (*end)(struct image *image);
};

struct image {
	const struct image_source *source;
	void *context;
	pid_t pid; /* 0 = a recording */
	pid_t thread; /* by which it is read: pid, unless its first thread has ended */
	pid_t own_pid; /* in the innermost pid namespace, as the process itself has it; 0 = unknown */
	struct program_identity program; /* zeroes: of a recording */
	uint64_t page_size;
	struct image_mapping *mappings; /* in the order of addresses; they do not overlap */
	size_t mapping_count, mapping_capacity;
	/* Of all pages that are present or swapped out, in the order of addresses. */
	struct image_run *runs;
	size_t run_count, run_capacity;
	size_t mapping_last, run_last; /* where the last search ended */
	bool pages_unknown; /* of some mappings */
	bool huge_unknown; /* no page is marked as huge: the kernel does not show it */
	size_t refreshes; /* how often mappings and pages were listed */
	struct image_usage usage;
	/* CLOCK_MONOTONIC: reads fail from then on, and pages are not known that image_refresh has not listed; 0 = no limit. */
	uint64_t until_ns;
	const struct image_patience *patience; /* NULL = until_ns is final */
	struct image_keep *keep; /* NULL = nothing is kept */
	const struct image_keep_calls *keep_calls; /* NULL likewise */
};

/* Who limits the time of an image. */
struct image_patience {
	/* Nanoseconds by which until_ns, which has passed, is put off; 0 = it is final. */
	uint64_t (*extend)(void *context);
	/* Must all end now? */
	bool (*is_over)(void);
	void *context;
};

/* Is there no time any more? Then reads fail. */
bool image_is_over(struct image *image);

/* Is [address, address + size) in one mapping? */
bool image_holds(const struct image *image, uint64_t address, uint64_t size);
/* The mapping that holds `address`, or NULL. */
const struct image_mapping *image_find(const struct image *image, uint64_t address);
/* The index of the first mapping that ends behind `address`; mapping_count if there is none. */
size_t image_find_index(const struct image *image, uint64_t address);
/* The same mapping as system/proc.h has it; its path is the image's. */
struct proc_mapping image_proc_mapping(const struct image_mapping *mapping);

/* Copy `size` bytes at `address`; false if not all of them are in memory (or, of a file's read-only private mapping, in the file). */
bool image_read(struct image *image, uint64_t address, void *bytes, size_t size);
/* The same, as many as there are from the start. */
size_t image_read_part(struct image *image, uint64_t address, void *bytes, size_t size);
/* A word; 0 where it cannot be read. */
uint64_t image_word(struct image *image, uint64_t address);

/*
 * The next pages in [address, end) of which there is anything, as of the last image_refresh: true with `ret_run`, cut to
 * [address, end).
 */
bool image_next_run(struct image *image, uint64_t address, uint64_t end, struct image_run *ret_run);
/*
 * The next run of pages in [address, end) that are present: true with its start and end, which may lie inside of pages at the
 * borders only.
 */
bool image_next_present(struct image *image, uint64_t address, uint64_t end, uint64_t *ret_start,
			uint64_t *ret_end);
/* Bits of the page that holds `address`; 0 = nothing is there, or unknown. As of the last image_refresh. */
unsigned int image_page(struct image *image, uint64_t address);

/*
 * Look at the mappings and pages again. False if the process has gone, or executes another program; also where the new lists are
 * cut, and what was listed before is more: it stays.
 */
bool image_refresh(struct image *image);
/*
 * The same, again where lists are cut and there is time left. Returns 0, or a negative errno with `error` filled: -ESRCH if the process
 * has gone, or executes another program; -ETIMEDOUT if lists were cut each time.
 */
int image_refresh_whole(struct image *image, struct error *error);
/* Is the process there, and is its program still the one that the image was opened of? */
bool image_is_alive(const struct image *image);

/*
 * Of a live process. What is not known before `until_ns` (0 = a limit of its own) stays unknown: that is the image's limit at first.
 * Returns 0, or a negative errno with `error` filled: -ESTALE if it executed another program meanwhile. Free with image_free.
 */
int image_open(pid_t pid, uint64_t until_ns, struct image **ret_image, struct error *error);
void image_free(struct image *image);

/* For sources. An image without mappings, which image_refresh asks for; it closes the source when it is freed. */
struct image *image_new(const struct image_source *source, void *context, uint64_t page_size);
/*
 * Add a mapping behind those that are there; it is copied with its name. One that is no range of pages, or begins before the
 * last one ends, is left out.
 */
void image_add_mapping(struct image *image, const struct image_mapping *mapping);
/* Add pages behind those that are there; left out as mappings are, or if `bits` is 0. */
void image_add_pages(struct image *image, uint64_t start, uint64_t end, unsigned int bits);

#endif
