/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds growth between two looks at the memory of a process, comparing rows of the same name. Pure.
 */
#ifndef VERDICT_MEMORY_GROWTH_H
#define VERDICT_MEMORY_GROWTH_H

#include "model/memory_report.h"

/*
 * Fill in the growth of all rows of `report`, and sort by it. A row missing in `before` has grown
 * by its whole size. What one of the two looks has not seen all of has no growth, and a remark.
 */
void memory_growth_find(struct memory_report *report, const struct memory_report *before);

/* A class with more objects than before. */
struct grown_class {
	char *name; /* owned; NULL = unnamed */
	uint64_t objects; /* additional objects */
};

struct grown_classes {
	/* Ordered by growth; free with memory_growth_free_classes. */
	struct grown_class *items;
	size_t count;
};

/* The first `max` classes with more objects, after memory_growth_find. */
void memory_growth_list(const struct memory_runtime *runtime, size_t max,
			struct grown_classes *ret_classes);
void memory_growth_free_classes(struct grown_classes *classes);

/* Append "Session +12,000, String +9,100". */
void memory_growth_describe(const struct grown_classes *classes, struct buffer *text);

#endif
