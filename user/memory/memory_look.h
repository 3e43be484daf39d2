/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A look at the memory of a process: opens its image, asks all that can claim a part of it, and adds up. Nothing is attached, nothing
 * is stopped, and no page is brought in.
 */
#ifndef MEMORY_MEMORY_LOOK_H
#define MEMORY_MEMORY_LOOK_H

#include "base/error.h"
#include "decode/name_reader.h"
#include "heap/image.h"
#include "model/memory_report.h"

/* What looks at one process keep, to follow its blocks and objects. */
struct memory_kept;
struct memory_kept *memory_kept_new(void);
void memory_kept_free(struct memory_kept *kept);

struct memory_wanted {
	/*
	 * CLOCK_MONOTONIC: what is not reached by then is left out, with a remark; 0 = no limit. Time in which the caller waits for a
	 * CPU does not count, up to twice the time that there was.
	 */
	uint64_t until_ns;
	bool (*is_over)(void); /* must all end now? NULL = never */
	/* Called before each stage with what it looks at ("the heaps"), which is static; NULL = not. */
	void (*on_stage)(const char *name);
	bool totals_only; /* of heaps: no kinds of blocks; of runtimes: no holders */
	bool holders; /* of blocks, also where these are large */
	bool objects; /* of runtimes: classes of objects */
	bool huge_pages; /* are read, for how much of them is zeroes */
	bool samples; /* contents may be shown, such as texts that are keys */
	/* To wait for a major collection of a runtime, so that what is live is live; 0 = not at all. */
	uint64_t wait_ns;
	struct name_reader *names; /* of places and types; NULL = they have none */
	struct memory_kept *kept; /* over several looks at one process; NULL = nothing is */
};

/*
 * Fill `*ret_report`, which is {0}; free it with memory_report_free, also after a failure. Where the process executes another program
 * meanwhile, that is looked at instead. Returns 0, or a negative errno with `error` filled: ERROR_TARGET if there is no such process, or
 * it has ended, or (-ESTALE) has executed other programs again and again; ERROR_PERMISSION if it may not be looked at.
 */
int memory_look(pid_t pid, const struct memory_wanted *wanted, struct memory_report *ret_report,
		struct error *error);

/*
 * The same of an image that is at hand, such as a recorded one. Figures that the kernel counts are left out where it
 * is of no process. Fill `*ret_report`, which is {0}; free it with memory_report_free.
 */
void memory_look_image(struct image *image, const struct memory_wanted *wanted,
		       struct memory_report *ret_report);

/* A process's malloc, in bytes. */
struct memory_malloc {
	uint64_t live; /* blocks in use */
	uint64_t free; /* free, and in memory */
};

/*
 * Only how much is in use and free in malloc. Returns 0, or a negative errno with `*ret_malloc` untouched: -ETIMEDOUT if
 * that is not known before `until_ns` (CLOCK_MONOTONIC).
 */
int memory_look_malloc(pid_t pid, uint64_t until_ns, struct memory_malloc *ret_malloc);

#endif
