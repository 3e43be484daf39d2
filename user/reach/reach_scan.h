/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All words of a process that lead to its blocks: roots and edges of a graph, in one pass over its memory. */
#ifndef REACH_REACH_SCAN_H
#define REACH_REACH_SCAN_H

#include "reach/reach_graph.h"
#include "reach/reach_index.h"
#include "reach/reach_roots.h"
#include "reach/reach_walk.h"

struct reach_scan {
	const struct reach_index *index;
	const struct reach_roots *roots;
	struct reach_graph *graph;
	/* The first block that ends behind the word that is looked at. */
	size_t cursor;
};

/* Look at all memory. False if there was no time for all of it. */
bool reach_scan_memory(struct reach_scan *scan, struct image *image, enum reach_direction direction,
		       struct reach_walk_left *ret_left);
/* A word that is in no memory: of a register, of the kernel. It may be anything. */
void reach_scan_word(struct reach_scan *scan, uint64_t word, enum leak_root root);

#endif
