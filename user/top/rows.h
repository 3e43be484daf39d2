/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sites of a report are rows of the table, and which of them is chosen. Pure. */
#ifndef TOP_ROWS_H
#define TOP_ROWS_H

#include "analyze/report.h"
#include "top/view.h"

/* {0} = none. Free with rows_free. */
struct rows {
	size_t *sites; /* places in the report, in the order of the table */
	size_t count, capacity;
};

/* Find the rows of a report as the view has them: after a mark only what has grown, and only what the filter fits. */
void rows_find(struct rows *rows, const struct report *report, const struct view *view);
void rows_free(struct rows *rows);

/*
 * Let the chosen row be the one that it was, wherever it is now; the first one stays the first, unless its stack is shown. False if
 * that row is shown and is no more.
 */
bool rows_follow(const struct rows *rows, const struct report *report, struct view *view);

/* The chosen row, as the report has it; NULL = there is none. */
const struct report_site *rows_chosen(const struct rows *rows, const struct report *report,
				      const struct view *view);

#endif
