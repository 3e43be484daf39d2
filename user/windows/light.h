/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which blocks are in use with --light. Frees are not probed: the table of blocks holds the
 * last owner of each address, and a census of the heap shows what is in use. Table and heap are
 * read one after the other while the target runs, so each is read twice; blocks on which the
 * readings differ count as undecided.
 */
#ifndef WINDOWS_LIGHT_H
#define WINDOWS_LIGHT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "image/image.h"
#include "kernel/maps.h"
#include "model/light_report.h"
#include "windows/light_plan.h"
#include "follow/process_table.h"
#include "tracer_abi.h"

/* A block of the table, and which readings have found it. */
struct light_block {
	struct block_key key;
	struct block block;
	unsigned char seen; /* enum light_seen */
};

enum light_seen {
	LIGHT_SEEN_FIRST = 1, /* in the first walk of the heap */
	LIGHT_SEEN_SECOND = 2,
	LIGHT_SEEN_SAME = 4, /* the table held the same entry after both walks */
	LIGHT_UNCLEAR_FIRST =
		8, /* the first walk could not read this memory, or did not reach it */
	LIGHT_UNCLEAR_SECOND = 16,
};

/* The verdict on a block. */
enum light_verdict {
	LIGHT_IN_USE,
	LIGHT_UNDECIDED, /* counted as in use */
	LIGHT_ENDED, /* not in the heap: removed from the table */
	/* Not in the heap either, but the table holds a newer block at its address */
	LIGHT_REPLACED,
};

/* A process. */
struct light_target {
	uint32_t target_id;
	struct image *image; /* NULL = its memory cannot be read */
	struct light_heap heap; /* from the last look */
};

struct light {
	bool on; /* false = all functions here do nothing */
	const struct maps *maps;
	const struct process_table *processes;
	/* How exactly the heap shows the blocks of a site; NULL = LIGHT_BLOCKS_EXACT. */
	enum light_blocks (*blocks_of)(const void *context, uint64_t site);
	const void *context;
	uint64_t most_blocks; /* capacity of the table */
	struct light_target *targets;
	size_t count, capacity;
	/* State of the current look. */
	struct light_block *blocks; /* by target and address */
	size_t block_count, block_capacity;
	size_t last; /* where the last search ended */
	/* The kernel cannot look up and delete in one step: entries are not removed */
	bool cannot_take;
	uint64_t ended_blocks, look_ns, next_ns;
};

/* Start periodic looks. */
void light_start(struct light *light);
void light_free(struct light *light);

/* Called for each block that counts as in use; `undecided`: it may have been freed. */
typedef void light_visit(void *context, const struct block_key *key, const struct block *block,
			 bool undecided);

/*
 * Read the table and examine the heaps. Removes ended blocks from the table, and calls `visit` for
 * all others, as they were when the look began. Returns 0 or a negative errno.
 */
int light_look(struct light *light, light_visit *visit, void *context);

/* Look if due, to keep the table from filling up. Returns the time of the next call; 0 = never. */
uint64_t light_poll(struct light *light);

/* The results of the last look. Free with light_report_free. */
struct light_report *light_report_make(const struct light *light);

/* The verdict on a block, from its LIGHT_SEEN_* flags. */
enum light_verdict light_judge(unsigned int seen);

/* light_check for all running processes. */
int light_check_all(const struct light *light, struct error *error);

/*
 * Can the heap of a process be examined, if it has one? Returns 0, or -ENOTSUP with `error` filled.
 */
int light_check(pid_t pid, struct error *error);

#endif
