/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cumulative window time over a trace of any length: one mark per window, older marks thinned out.
 * The windows themselves are kept only for a while.
 */
#ifndef WINDOWS_BUDGET_MARKS_H
#define WINDOWS_BUDGET_MARKS_H

#include "model/budget_report.h"

#define BUDGET_MARKS_MAX 512

/* {0} is empty. */
struct budget_marks {
	struct budget_mark items[BUDGET_MARKS_MAX]; /* the oldest first */
	size_t count;
};

/* Append the latest window: it began at `start_ns` and lasted `length_ns`. */
void budget_marks_add(struct budget_marks *marks, uint64_t start_ns, uint64_t length_ns);

/* Copy the marks into a report that has none. */
void budget_marks_report(const struct budget_marks *marks, struct budget_report *report);

#endif
