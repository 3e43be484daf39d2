/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Remarks of several processes: a line that several of them have is there once, with how many these are. Pure. */
#ifndef MEMORY_MEMORY_REMARKS_H
#define MEMORY_MEMORY_REMARKS_H

#include "model/memory_report.h"

/* What a remark is about. */
enum remark_subject { REMARK_PROCESS, REMARK_HEAP, REMARK_RUNTIME };

struct memory_remark {
	enum remark_subject subject;
	size_t row; /* of the sum's heaps or runtimes; 0 for a process */
	char *text; /* a line, without its end; owned */
	size_t processes; /* that have it */
	size_t last; /* the number of the last of them, from 1 on */
	char name[48]; /* the first of them: "puma (4242)" */
};

/* Zeroes are an empty list. */
struct memory_remarks {
	struct memory_remark *rows; /* in the order in which they came; owned */
	size_t count, capacity;
};

/* Add `lines` of the process that the sum has as its last member. */
void memory_remarks_add(struct memory_remarks *remarks, const struct memory_report *sum,
			enum remark_subject subject, size_t row, const struct buffer *lines);

/* Append all to the remarks of `sum`, its heaps and runtimes: "3 of 5 processes: ...", "puma (4242): ...". Empties the list. */
void memory_remarks_finish(struct memory_remarks *remarks, struct memory_report *sum);

#endif
