/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks by what a report shows of them. */
#ifndef ANALYZE_SHOWN_H
#define ANALYZE_SHOWN_H

#include "analyze/judge.h"

struct shown_stack {
	const struct stack *stack;
	struct judge *judge; /* what it hides is not shown */
	bool all; /* interpreters' own frames are shown, too */
};

/* Stacks that are shown alike have the same hash, and compare as 0. */
uint64_t shown_hash(const struct shown_stack *stack);
int shown_compare(const struct shown_stack *left, const struct shown_stack *right);

#endif
