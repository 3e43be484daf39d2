/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses for formats that have no others. A process's own addresses mean nothing beyond it, so each file gets a range of addresses,
 * in which an address is where the range begins and an offset in the file: what a reader needs to find a place in the file again.
 */
#ifndef RENDER_RANGES_H
#define RENDER_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/table.h"
#include "model/report_frame.h"

/* A file, by its path and build ID. */
struct range {
	const char *path, *build_id; /* kept by the ranges; NULL = no build ID */
	uint64_t start; /* its address 0 */
	uint64_t first, last; /* offsets that an address was asked for of; first > last = none */
};

/* {0} is empty. */
struct ranges {
	bool by_name; /* a file has the same range in all that is written: of its name, not in the order of use */
	struct range *items; /* owned */
	size_t count, capacity;
	struct strings strings;
	struct table by_key; /* by the address of a kept key: index + 1 */
	struct table by_start; /* of a range: its key */
};

/* The index of a frame's file; SIZE_MAX = it has none, or its code is an interpreter's. */
size_t ranges_find(struct ranges *ranges, const struct report_frame *frame);
/*
 * The pages that were used, as a process maps them: readers find out by the offset of a mapping which segment of the file it is. 0 to 0
 * if there are none.
 */
struct range_pages {
	uint64_t start, limit; /* addresses */
	uint64_t offset; /* of the first page in the file */
};

struct range_pages ranges_pages(const struct ranges *ranges, size_t index);
/*
 * The address of a frame in the range of its file, as that of the call: of a return address, what stands before it. 0 = it has none: it
 * is all of the file, or beyond what a range has room for.
 */
uint64_t ranges_address(struct ranges *ranges, size_t index, const struct report_frame *frame);
void ranges_free(struct ranges *ranges);

#endif
