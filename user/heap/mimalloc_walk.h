/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of mimalloc's pages. */
#ifndef HEAP_MIMALLOC_WALK_H
#define HEAP_MIMALLOC_WALK_H

#include "heap/census.h"
#include "heap/mimalloc_segment.h"

/* The walk of an allocator: see census.h. */
int mimalloc_walk(const struct heap_layout *layout, struct image *image,
		  const struct census_sink *sink, struct heap_totals *ret_totals);

#endif
