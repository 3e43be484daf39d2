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

/* `hash` continued by a text or NULL; by a module, as the file that it is. */
uint64_t shown_mix_text(uint64_t hash, const char *text);
uint64_t shown_mix_module(uint64_t hash, const struct module_list *modules, uint32_t index);
/* `hash` continued by the content of what is shown: the same for stacks that are shown alike, in each snapshot. */
uint64_t shown_id(const struct shown_stack *stack, const struct module_list *modules,
		  uint64_t hash);

#endif
