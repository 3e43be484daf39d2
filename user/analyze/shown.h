/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares stacks by what a report shows of them. */
#ifndef ANALYZE_SHOWN_H
#define ANALYZE_SHOWN_H

#include "analyze/judge.h"

struct shown_stack {
	const struct stack *stack;
	struct judge *judge; /* hides frames */
	bool all; /* include interpreters' own frames */
};

/* Stacks that look alike have the same hash, and compare as 0. */
uint64_t shown_hash(const struct shown_stack *stack);
int shown_compare(const struct shown_stack *left, const struct shown_stack *right);

/* Continue `hash` with a text or NULL; with a module, identified as a file. */
uint64_t shown_mix_text(uint64_t hash, const char *text);
uint64_t shown_mix_module(uint64_t hash, const struct module_list *modules, uint32_t index);
/* Continue `hash` with the shown content: equal for stacks that look alike, across snapshots. */
uint64_t shown_id(const struct shown_stack *stack, const struct module_list *modules,
		  uint64_t hash);

#endif
