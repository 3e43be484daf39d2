/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic addresses for formats that need some. A process's addresses mean nothing beyond it, so
 * each file gets a range of addresses; an address is the start of the range plus the offset in the
 * file, which is what a reader needs to find the code again.
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
	uint64_t start; /* address of file offset 0 */
	uint64_t first, last; /* range of offsets used; first > last = none */
};

/* {0} is empty. */
struct ranges {
	/*
	 * Derive a file's range from its name, so it is the same in all outputs, not from the order
	 * of use
	 */
	bool by_name;
	struct range *items; /* owned */
	size_t count, capacity;
	struct strings strings;
	struct table by_key; /* by address of a kept key: index + 1 */
	struct table by_start; /* key of the range by its start */
};

/* The index of a frame's file; SIZE_MAX = none, or interpreted code. */
size_t ranges_find(struct ranges *ranges, const struct report_frame *frame);
/*
 * The pages in use, as a process maps them: readers find the file's segment by the offset of a
 * mapping. 0 to 0 if there are none.
 */
struct range_pages {
	uint64_t start, limit; /* addresses */
	uint64_t offset; /* of the first page in the file */
};

struct range_pages ranges_pages(const struct ranges *ranges, size_t index);
/*
 * The address of a frame's call in the range of its file: before the return address. 0 = none: the
 * frame is the whole file, or lies beyond the range.
 */
uint64_t ranges_address(struct ranges *ranges, size_t index, const struct report_frame *frame);
void ranges_free(struct ranges *ranges);

#endif
