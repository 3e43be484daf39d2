/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds all words of a process that point to its blocks: roots and edges of a graph, in one pass
 * over its memory.
 */
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
	/* The first block that ends after the current word. */
	size_t cursor;
};

/* Scan all memory. False if time ran out. */
bool reach_scan_memory(struct reach_scan *scan, struct image *image, enum reach_direction direction,
		       struct reach_walk_left *ret_left);
/* Scan a word outside of memory: a register, or the kernel's. It may be anything. */
void reach_scan_word(struct reach_scan *scan, uint64_t word, enum leak_root root);

#endif
