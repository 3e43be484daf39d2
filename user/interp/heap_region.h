/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes an interpreter's own heap by its content, which contains pointers back to itself in
 * ways that other memory does not. Functions are no help: they have no names in a stripped file,
 * and differ between versions.
 */
#ifndef INTERP_HEAP_REGION_H
#define INTERP_HEAP_REGION_H

#include "interp/target_memory.h"
#include "model/region.h"

/* Can a malloc block be one of these pages? */
bool heap_region_may_be(uint64_t address, uint64_t size);

/*
 * Classify [start, end): a page of Ruby's heap, an arena of CPython, a chunk of PHP, a page of V8;
 * or REGION_NONE, also if unreadable or still empty. Reads only a few bytes.
 */
enum region heap_region_find(const struct target_memory *memory, uint64_t start, uint64_t end);

#endif
