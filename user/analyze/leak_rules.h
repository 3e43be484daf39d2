/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters lost blocks by verdict, module and suppressions. Pure. */
#ifndef ANALYZE_LEAK_RULES_H
#define ANALYZE_LEAK_RULES_H

#include "analyze/suppression.h"

struct leak_rules {
	unsigned int verdicts; /* groups to show, as bits by enum leak_verdict */
	/* Only stacks with a frame in one of these files: by its name, or the end of its path; 0 = all. Borrowed. */
	const char *const *modules;
	size_t module_count;
	struct suppressions *suppressions;
};

/*
 * Remove groups: those that suppressions match move from the sums to `suppressed`, those outside
 * the module to `left_out`; verdicts that are not shown stay in the sums. Stacks must be complete.
 */
void leak_rules_apply(const struct leak_rules *rules, struct leak_report *report);
/*
 * For a traced group: is its stack unknown, because the kernel's table was full or nothing could be
 * read? The module rule never removes such a group.
 */
bool leak_rules_stack_is_unknown(const struct leak_group *group);

#endif
