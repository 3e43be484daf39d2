/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A look at the memory of a process: opens its image, runs the stages that claim parts of it, and
 * adds up. Attaches nothing, stops nothing, and faults in no page.
 */
#ifndef MEMORY_MEMORY_LOOK_H
#define MEMORY_MEMORY_LOOK_H

#include "base/error.h"
#include "decode/name_reader.h"
#include "image/image.h"
#include "model/memory_report.h"

/* State kept between looks at one process, to follow its blocks and objects. */
struct memory_kept;
struct memory_kept *memory_kept_new(void);
void memory_kept_free(struct memory_kept *kept);

struct memory_wanted {
	/*
	 * CLOCK_MONOTONIC: time limit; the rest is left out, with a remark; 0 = no limit. Waiting
	 * for a CPU extends it, at most to three times the original time.
	 */
	uint64_t until_ns;
	bool (*is_over)(void); /* must everything end now? NULL = never */
	/* Called before each stage with its subject ("the heaps"), a static string; may be NULL. */
	void (*on_stage)(const char *name);
	bool totals_only; /* skip kinds of blocks, and holders of objects */
	bool holders; /* find holders of blocks, even of a large heap */
	bool objects; /* count objects of runtimes by class */
	bool huge_pages; /* read huge pages, to find out how much of them is zero */
	bool samples; /* show contents, such as texts that are keys */
	/*
	 * How long to wait for a major collection of a runtime, so that live objects are really
	 * live; 0 = not at all.
	 */
	uint64_t wait_ns;
	struct name_reader *names; /* names of symbols and types; NULL = none */
	struct memory_kept *kept; /* state for several looks at one process; NULL = none */
};

/*
 * Fill `*ret_report`, which is {0}; free it with memory_report_free, also after a failure. After an
 * exec, examines the new program instead. Returns 0, or a negative errno with `error` filled:
 * ERROR_TARGET if the process does not exist, has ended, or (-ESTALE) keeps executing other
 * programs; ERROR_PERMISSION if it cannot be examined.
 */
int memory_look(pid_t pid, const struct memory_wanted *wanted, struct memory_report *ret_report,
		struct error *error);

/*
 * The same for an open image, such as a recorded one. Without a process, leaves out the kernel's
 * figures. Fills `*ret_report`, which is {0}; free it with memory_report_free.
 */
void memory_look_image(struct image *image, const struct memory_wanted *wanted,
		       struct memory_report *ret_report);

/* A process's malloc, in bytes. */
struct memory_malloc {
	uint64_t live; /* blocks in use */
	uint64_t free; /* free and resident */
};

/*
 * Read only the memory in use and free in malloc. Returns 0, or a negative errno with `*ret_malloc`
 * untouched: -ETIMEDOUT at the time limit `until_ns` (CLOCK_MONOTONIC), -ENOTSUP if no heap was
 * found, or one could not be walked.
 */
int memory_look_malloc(pid_t pid, uint64_t until_ns, struct memory_malloc *ret_malloc);

#endif
