/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One pass through a process: its blocks, all words that lead to them, and so which of them are lost. */
#ifndef MEMORY_LEAKS_PASS_H
#define MEMORY_LEAKS_PASS_H

#include "base/error.h"
#include "heap/thread_list.h"
#include "memory/leaks_look.h"
#include "memory/leaks_objects.h"
#include "model/leak_report.h"
#include "reach/reach_follow.h"
#include "reach/reach_graph.h"
#include "reach/reach_heuristics.h"
#include "reach/reach_index.h"
#include "reach/reach_roots.h"
#include "reach/reach_walk.h"

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
	/* No thread ran from its start to its end, or to the last leaks_pass_check_rest, and no other process could write to its memory. */
	bool is_quiet;
	struct buffer rest; /* of the threads, at its start */
	/* Of a process whose threads did not run as it began: another one with the same memory; 0 = none, -1 = unknown, also where such processes cannot be seen. */
	pid_t sharer;
	bool is_exact; /* none of the blocks may be free */
	uint64_t odd_blocks; /* left out: within others, or at odd addresses */
};

/*
 * Run a pass; free it with leaks_pass_free in any case. Returns 0, or a negative errno with `error` filled: -ETIMEDOUT, -ENOMEM if it
 * would take more memory than wanted->max_memory, -ENOTSUP if not all blocks can be listed.
 */
int leaks_pass_run(struct leaks_pass *pass, struct image *image, const struct leaks_wanted *wanted,
		   const struct leaks_objects *objects, enum reach_direction direction,
		   struct error *error);
void leaks_pass_free(struct leaks_pass *pass);

/* What was read since belongs to the same moment, if it is still quiet. */
void leaks_pass_check_rest(struct leaks_pass *pass);

/* The blocks of now alone: `ret_blocks` is {0}. Not exact: some of them may be free. As leaks_pass_run. */
int leaks_pass_list(struct image *image, const struct leaks_wanted *wanted,
		    struct reach_blocks *ret_blocks, bool *ret_is_exact, struct error *error);

#endif
