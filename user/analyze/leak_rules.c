/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leak_rules.h. */
#include "analyze/leak_rules.h"

#include <string.h>

/* "/usr/lib/libfoo.so.1" by "libfoo.so.1", "lib/libfoo.so.1", or all of it. */
static bool module_is(const char *module, const char *wanted)
{
	size_t length, end;

	if (!module)
		return false;
	length = strlen(module);
	end = strlen(wanted);
	return length >= end && !strcmp(module + length - end, wanted) &&
	       (length == end || *wanted == '/' || module[length - end - 1] == '/');
}

static bool group_is_through(const struct leak_group *group, const struct leak_rules *rules)
{
	size_t i, n;

	for (i = 0; i < group->frame_count; i++)
		for (n = 0; n < rules->module_count; n++)
			if (module_is(group->frames[i].module, rules->modules[n]))
				return true;
	return false;
}

bool leak_rules_stack_is_unknown(const struct leak_group *group)
{
	size_t i;

	for (i = 0; i < group->frame_count; i++)
		if (group->frames[i].kind != FRAME_ERROR)
			return false;
	return group->frame_count > 0;
}

static struct suppression *rules_find(const struct leak_rules *rules,
				      const struct leak_group *group)
{
	size_t i;

	for (i = 0; i < rules->suppressions->count; i++)
		if (suppression_fits(&rules->suppressions->items[i], group))
			return &rules->suppressions->items[i];
	return NULL;
}

static void sum_take(struct leak_sum *from, const struct leak_sum *sum, struct leak_sum *to)
{
	from->blocks -= sum->blocks < from->blocks ? sum->blocks : from->blocks;
	from->bytes -= sum->bytes < from->bytes ? sum->bytes : from->bytes;
	leak_sum_add(to, sum);
}

static void rules_take(struct leak_report *report, const struct leak_group *group,
		       struct leak_sum *to)
{
	sum_take(&report->sums[group->verdict], &group->own, to);
	sum_take(&report->sums[LEAK_INDIRECT], &group->indirect, to);
}

/* Is it shown? Otherwise its sums are where they belong. */
static bool rules_keep(const struct leak_rules *rules, struct leak_report *report,
		       const struct leak_group *group)
{
	struct suppression *suppression;

	if (rules->module_count && !leak_rules_stack_is_unknown(group) &&
	    !group_is_through(group, rules)) {
		rules_take(report, group, &report->left_out);
		return false;
	}
	suppression = rules_find(rules, group);
	if (suppression) {
		leak_sum_add(&suppression->sum, &group->own);
		leak_sum_add(&suppression->sum, &group->indirect);
		rules_take(report, group, &report->suppressed);
		return false;
	}
	return rules->verdicts & 1u << group->verdict;
}

void leak_rules_apply(const struct leak_rules *rules, struct leak_report *report)
{
	size_t i, kept = 0;

	for (i = 0; i < report->group_count; i++) {
		if (rules_keep(rules, report, &report->groups[i]))
			report->groups[kept++] = report->groups[i];
		else
			leak_group_clear(&report->groups[i]);
	}
	report->group_count = kept;
}
