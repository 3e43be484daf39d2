/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pass through a process: its blocks and all words that point to them, and so which of them are
 * lost.
 */
#ifndef MEMORY_LEAKS_PASS_H
#define MEMORY_LEAKS_PASS_H

#include "base/error.h"
#include "image/thread_list.h"
#include "memory/leaks_look.h"
#include "memory/leaks_objects.h"
#include "model/leak_report.h"
#include "reach/reach_follow.h"
#include "reach/reach_graph.h"
#include "reach/reach_heuristics.h"
#include "reach/reach_index.h"
#include "reach/reach_roots.h"
#include "reach/reach_walk.h"

/* What an allocator's walk has left out since the process is at work. */
struct leaks_motion {
	bool is_moving; /* lists of free blocks changed while they were followed */
	uint64_t bytes; /* of memory that is not listed */
	uint64_t sizes; /* of the blocks in it */
};

/* What allocators' walks have not understood, beside what they have. {0} is empty. */
struct leaks_damage {
	uint64_t unknown_bytes, bytes; /* not understood; of blocks in use */
	uint64_t places, blocks; /* with structures that do not agree; blocks in use */
	struct buffer remarks; /* sentences, a line each */
};

/* A list of present blocks. {0} is empty. */
struct leaks_list {
	struct reach_blocks blocks;
	struct reach_blocks unknown; /* ranges of memory that may contain others */
	bool is_exact; /* certainly none of them is free */
	struct leaks_motion motion;
};

struct leaks_pass {
	struct image *image; /* borrowed */
	const struct leaks_wanted *wanted;
	const struct leaks_objects *objects; /* borrowed */
	enum reach_direction direction;
	struct thread_list threads;
	struct module_ranges modules;
	struct thread_registers_list registers;
	struct reach_roots roots;
	struct reach_blocks blocks;
	struct reach_index index;
	struct reach_graph graph;
	struct reach_heuristics heuristics;
	struct reach_judge judge;
	struct reach_walk_left left;
	bool has_registers;
	/*
	 * No thread ran during the pass, or until the last leaks_pass_check_rest, and no other
	 * process could write to its memory.
	 */
	bool is_quiet;
	struct buffer rest; /* counters of the threads at its start */
	/*
	 * If no thread ran at the start: another process sharing the memory; 0 = none, -1 =
	 * unknown.
	 */
	pid_t sharer;
	bool is_exact; /* certainly none of the blocks is free */
	bool is_unused; /* there is no block, since no function that allocates was called */
	struct leaks_motion motion;
	struct leaks_damage damage;
	unsigned int kernel_hides; /* enum kernel_hidden, as bits */
	uint64_t odd_blocks; /* skipped: inside others, or misaligned */
};

/*
 * Run a pass; free it with leaks_pass_free in either case. Returns 0, or a negative errno with
 * `error` filled: -ETIMEDOUT; -ENOMEM if it would exceed wanted->max_memory; -ENOTSUP if some
 * blocks cannot be listed.
 */
int leaks_pass_run(struct leaks_pass *pass, struct image *image, const struct leaks_wanted *wanted,
		   const struct leaks_objects *objects, enum reach_direction direction,
		   struct error *error);
void leaks_pass_free(struct leaks_pass *pass);

/*
 * Check whether the process is still at rest, so that what was read since belongs to the same
 * moment.
 */
void leaks_pass_check_rest(struct leaks_pass *pass);

/* List only the present blocks; `ret_list` is {0}. Errors as leaks_pass_run. */
int leaks_pass_list(struct image *image, const struct leaks_wanted *wanted,
		    struct leaks_list *ret_list, struct error *error);
void leaks_list_free(struct leaks_list *list);

#endif
