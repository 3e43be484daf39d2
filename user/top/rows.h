/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the sites of a report that are rows of the table, and tracks the chosen one. Pure. */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

#include "analyze/report.h"
#include "top/view.h"

/* {0} = none. Free with rows_free. */
struct rows {
	size_t *sites; /* indexes in the report, in table order */
	size_t count, capacity;
};

/*
 * Select the rows for a view: with a mark only growing ones, and only those that match the filter.
 */
void rows_find(struct rows *rows, const struct report *report, const struct view *view);
void rows_free(struct rows *rows);

/*
 * Keep the same row chosen, wherever it is now; the first row stays the first, unless its stack is
 * shown. False if the shown row no longer exists.
 */
bool rows_follow(const struct rows *rows, const struct report *report, struct view *view);

/* The chosen row in the report; NULL = none. */
const struct report_site *rows_chosen(const struct rows *rows, const struct report *report,
				      const struct view *view);

#endif
