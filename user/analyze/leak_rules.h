/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lost blocks a report is about: kinds, a module, suppressions. Pure. */
#ifndef ANALYZE_LEAK_RULES_H
#define ANALYZE_LEAK_RULES_H

#include "analyze/suppression.h"

struct leak_rules {
	unsigned int verdicts; /* bits by enum leak_verdict of groups that are shown */
	/* Only stacks with a frame in one of these files: by its name, or the end of its path; 0 = all. Borrowed. */
	const char *const *modules;
	size_t module_count;
	struct suppressions *suppressions;
};

/*
 * Take out groups: what suppressions fit, and what is not through the module, leaves the sums for `suppressed` and `left_out`; kinds that
 * are not shown stay in the sums. Frames are to be whole.
 */
void leak_rules_apply(const struct leak_rules *rules, struct leak_report *report);
/* Of a group that was traced: had the kernel's table no room for its stack, or could nothing of it be read? Such a group is never taken out by a module. */
bool leak_rules_stack_is_unknown(const struct leak_group *group);

#endif
