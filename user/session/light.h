/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks are in use, with --light: frees are not probed, so the table of blocks has the last owner of each address, and what is in
 * use is what the census of the heap shows. Table and heap are read one after the other while the target runs. So each is read
 * twice, and what does not agree is counted as undecided.
 */
#ifndef SESSION_LIGHT_H
#define SESSION_LIGHT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "heap/image.h"
#include "kernel/maps.h"
#include "model/light_report.h"
#include "session/light_plan.h"
#include "session/process_table.h"
#include "tracer_abi.h"

/* A block of the table, and where it was found. */
struct light_block {
	struct block_key key;
	struct block block;
	unsigned char seen; /* enum light_seen */
};

enum light_seen {
	LIGHT_SEEN_FIRST = 1, /* in the first walk of the heap */
	LIGHT_SEEN_SECOND = 2,
	LIGHT_SEEN_SAME = 4, /* the table had the same entry after both */
	LIGHT_UNCLEAR_FIRST =
		8, /* the first walk did not understand what is there, or was not there */
	LIGHT_UNCLEAR_SECOND = 16,
};

/* What became of a block. */
enum light_verdict {
	LIGHT_IN_USE,
	LIGHT_UNDECIDED, /* counted as in use */
	LIGHT_ENDED, /* it is not in the heap, and leaves the table */
	LIGHT_REPLACED, /* nor is it, and the table has another one at its address */
};

/* A process. */
struct light_target {
	uint32_t target_id;
	struct image *image; /* NULL = it cannot be looked at */
	struct light_heap heap; /* of the last look */
};

struct light {
	bool on; /* without, nothing is done */
	const struct maps *maps;
	const struct process_table *processes;
	/* What is known of the blocks of a site; NULL = LIGHT_BLOCKS_EXACT. */
	enum light_blocks (*blocks_of)(const void *context, uint64_t site);
	const void *context;
	uint64_t most_blocks; /* that the table can hold */
	struct light_target *targets;
	size_t count, capacity;
	/* Of the present look. */
	struct light_block *blocks; /* by target and address */
	size_t block_count, block_capacity;
	size_t last; /* the position that the last search came to */
	bool cannot_take; /* the kernel cannot take an entry out and return it: none is taken out */
	uint64_t ended_blocks, look_ns, next_ns;
};

/* Look from time to time from now on. */
void light_start(struct light *light);
void light_free(struct light *light);

/* A block that counts as in use; `undecided`: perhaps it is not any more. */
typedef void light_visit(void *context, const struct block_key *key, const struct block *block,
			 bool undecided);

/*
 * Read the table and look at the heaps. Blocks that have ended are taken out of the table, and left out of what `visit` is called for:
 * all others, as they were when the look began. Returns 0 or a negative errno.
 */
int light_look(struct light *light, light_visit *visit, void *context);

/* Look if it is time to, so that the table does not fill up. Returns when it is to be called again; 0 = never. */
uint64_t light_poll(struct light *light);

/* What the last look has found. Free with light_report_free. */
struct light_report *light_report_make(const struct light *light);

/* What is the verdict on a block of a heap that was looked at? */
enum light_verdict light_judge(unsigned int seen);

/* Can those of all processes that run? See light_check. */
int light_check_all(const struct light *light, struct error *error);

/* Can the heap of a process be looked at, if there is one? Returns 0, or -ENOTSUP with `error` filled. */
int light_check(pid_t pid, struct error *error);

#endif
