/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long windows were up to a time, of a trace of any length: a mark for each window, of which the older ones are thinned. Single
 * windows are only kept for a while.
 */
#ifndef SESSION_BUDGET_MARKS_H
#define SESSION_BUDGET_MARKS_H

#include "model/budget_report.h"

#define BUDGET_MARKS_MAX 512

/* {0} has none. */
struct budget_marks {
	struct budget_mark items[BUDGET_MARKS_MAX]; /* the oldest first */
	size_t count;
};

/* A window that began at `start_ns` has lasted for `length_ns`; it is the last one. */
void budget_marks_add(struct budget_marks *marks, uint64_t start_ns, uint64_t length_ns);

/* Copy them into a report that has none. */
void budget_marks_report(const struct budget_marks *marks, struct budget_report *report);

#endif
