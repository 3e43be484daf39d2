/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leak_report.h. */
#include "model/leak_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *leak_root_name(enum leak_root root)
{
	static const char *const names[] = {
#define ROOT_NAME(SYMBOL, name, title) #name,
		LEAK_ROOT_LIST(ROOT_NAME)
#undef ROOT_NAME
	};

	return names[root];
}

const char *leak_root_title(enum leak_root root)
{
	static const char *const titles[] = {
#define ROOT_TITLE(SYMBOL, name, title) title,
		LEAK_ROOT_LIST(ROOT_TITLE)
#undef ROOT_TITLE
	};

	return titles[root];
}

const char *leak_verdict_name(enum leak_verdict verdict)
{
	static const char *const names[] = {
#define VERDICT_NAME(SYMBOL, name) #name,
		LEAK_VERDICT_LIST(VERDICT_NAME)
#undef VERDICT_NAME
	};

	return names[verdict];
}

bool leak_report_is_partial(const struct leak_report *report)
{
	return report->swapped_bytes || report->unread_bytes || report->pages_unknown ||
	       report->frees_unknown || report->is_restless || !report->has_registers;
}

bool leak_report_is_proof(const struct leak_report *report)
{
	return report->is_quiet && !leak_report_is_partial(report);
}

struct leak_group *leak_report_add_group(struct leak_report *report)
{
	struct leak_group *group;

	report->groups = memory_grow(report->groups, report->group_count, &report->group_capacity,
				     sizeof(*report->groups));
	group = &report->groups[report->group_count++];
	memset(group, 0, sizeof(*group));
	group->kind = group->name = group->note = "";
	return group;
}

void leak_report_remark(struct leak_report *report, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buffer_printf(&report->remarks, "%s\n", text);
}

void leak_report_free(struct leak_report *report)
{
	free(report->groups);
	buffer_free(&report->remarks);
	strings_free(&report->names);
	*report = (struct leak_report){ 0 };
}
