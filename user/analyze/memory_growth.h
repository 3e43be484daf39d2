/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has grown between two looks at the memory of a process: each row against the row of the same name. Pure. */
#ifndef ANALYZE_MEMORY_GROWTH_H
#define ANALYZE_MEMORY_GROWTH_H

#include "model/memory_report.h"

/*
 * Fill the growth of all rows of `report`, and put what has grown most first. A row that `before` does not have has grown by all
 * that it is.
 */
void memory_growth_find(struct memory_report *report, const struct memory_report *before);

/* A class of which there are more objects. */
struct grown_class {
	char *name; /* owned; NULL = it has none */
	uint64_t objects; /* so many more */
};

struct grown_classes {
	/* What has grown most first; free with memory_growth_free_classes. */
	struct grown_class *items;
	size_t count;
};

/* The first `max` classes of which there are more objects, after memory_growth_find. */
void memory_growth_list(const struct memory_runtime *runtime, size_t max,
			struct grown_classes *ret_classes);
void memory_growth_free_classes(struct grown_classes *classes);

/* Append "Session +12,000, String +9,100". */
void memory_growth_describe(const struct grown_classes *classes, struct buffer *text);

#endif
