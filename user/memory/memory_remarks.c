/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_remarks.h. */
#include "memory/memory_remarks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static struct memory_remark *remarks_find(struct memory_remarks *remarks,
					  enum remark_subject subject, size_t row, const char *text)
{
	size_t i;

	for (i = 0; i < remarks->count; i++)
		if (remarks->rows[i].subject == subject && remarks->rows[i].row == row &&
		    !strcmp(remarks->rows[i].text, text))
			return &remarks->rows[i];
	return NULL;
}

/* Takes over `text`. */
static void remarks_count(struct memory_remarks *remarks, const struct memory_report *sum,
			  enum remark_subject subject, size_t row, char *text)
{
	const struct memory_process *process = &sum->members[sum->member_count - 1];
	struct memory_remark *remark = remarks_find(remarks, subject, row, text);

	if (!remark) {
		remarks->rows = memory_grow(remarks->rows, remarks->count, &remarks->capacity,
					    sizeof(*remarks->rows));
		remark = &remarks->rows[remarks->count++];
		*remark = (struct memory_remark){ .subject = subject, .row = row, .text = text };
		snprintf(remark->name, sizeof(remark->name), "%s (%d)", process->comm,
			 process->pid);
	} else {
		free(text);
	}
	if (remark->last != sum->member_count)
		remark->processes++;
	remark->last = sum->member_count;
}

void memory_remarks_add(struct memory_remarks *remarks, const struct memory_report *sum,
			enum remark_subject subject, size_t row, const struct buffer *lines)
{
	const char *at = lines->data;
	size_t length;

	for (; at && *at; at += length + (at[length] == '\n')) {
		length = strcspn(at, "\n");
		if (length)
			remarks_count(remarks, sum, subject, row,
				      memory_format("%.*s", (int)length, at));
	}
}

static struct buffer *remarks_place(struct memory_report *sum, const struct memory_remark *remark)
{
	if (remark->subject == REMARK_HEAP)
		return &sum->heaps[remark->row].remarks;
	return remark->subject == REMARK_RUNTIME ? &sum->runtimes[remark->row].remarks
						 : &sum->remarks;
}

void memory_remarks_finish(struct memory_remarks *remarks, struct memory_report *sum)
{
	size_t i;

	for (i = 0; i < remarks->count; i++) {
		struct memory_remark *remark = &remarks->rows[i];
		struct buffer *place = remarks_place(sum, remark);

		if (remark->processes > 1)
			buffer_printf(place, "%zu of %zu processes: %s\n", remark->processes,
				      sum->member_count, remark->text);
		else
			buffer_printf(place, "%s: %s\n", remark->name, remark->text);
		free(remark->text);
	}
	free(remarks->rows);
	*remarks = (struct memory_remarks){ 0 };
}
