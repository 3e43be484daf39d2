/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is memory an interpreter's own heap? Decided by its content, which leads back to itself in ways that other memory does not:
 * the functions that made it have no names in a stripped file, and other ones in each version.
 */
#ifndef INTERP_HEAP_REGION_H
#define INTERP_HEAP_REGION_H

#include "interp/target_memory.h"
#include "model/region.h"

/* May a block of malloc's be one of these pages? */
bool heap_region_may_be(uint64_t address, uint64_t size);

/*
 * What the bytes of [start, end) are: a page of Ruby's heap, an arena of CPython's, a chunk of PHP's, a page of V8's, or REGION_NONE, also where
 * they cannot be read or nothing was put there yet. A few of them are read.
 */
enum region heap_region_find(const struct target_memory *memory, uint64_t start, uint64_t end);

#endif
