/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See budget_marks.h. */
#include "windows/budget_marks.h"

#include <string.h>

#include "base/memory.h"

/* Of the older half every second goes, but not the first. */
static void marks_make_room(struct budget_marks *marks)
{
	size_t i, kept = 1;

	if (marks->count < BUDGET_MARKS_MAX)
		return;
	for (i = 1; i < marks->count; i++)
		if (i >= BUDGET_MARKS_MAX / 2 || i % 2 == 0)
			marks->items[kept++] = marks->items[i];
	marks->count = kept;
}

void budget_marks_add(struct budget_marks *marks, uint64_t start_ns, uint64_t length_ns)
{
	struct budget_mark next = { start_ns, length_ns, 1 };

	if (marks->count) {
		next.traced_ns += marks->items[marks->count - 1].traced_ns;
		next.windows += marks->items[marks->count - 1].windows;
	}
	marks_make_room(marks);
	marks->items[marks->count++] = next;
}

void budget_marks_report(const struct budget_marks *marks, struct budget_report *report)
{
	report->marks = memory_alloc(marks->count + 1, sizeof(*report->marks));
	report->mark_count = marks->count;
	if (marks->count)
		memcpy(report->marks, marks->items, marks->count * sizeof(*report->marks));
}
