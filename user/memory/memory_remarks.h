/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges remarks on several processes: a line common to several appears once, with their number.
 * Pure.
 */
#ifndef MEMORY_MEMORY_REMARKS_H
#define MEMORY_MEMORY_REMARKS_H

#include "model/memory_report.h"

/* The subject of a remark. */
enum remark_subject { REMARK_PROCESS, REMARK_HEAP, REMARK_RUNTIME };

struct memory_remark {
	enum remark_subject subject;
	size_t row; /* of the sum's heaps or runtimes; 0 for a process */
	char *text; /* a line, without its end; owned */
	size_t processes; /* number of processes with it */
	size_t last; /* the number of the last of them, from 1 on */
	char name[48]; /* the first of them: "puma (4242)" */
};

/* {0} is an empty list. */
struct memory_remarks {
	struct memory_remark *rows; /* in order of arrival; owned */
	size_t count, capacity;
};

/* Add the `lines` of the last member of the sum. */
void memory_remarks_add(struct memory_remarks *remarks, const struct memory_report *sum,
			enum remark_subject subject, size_t row, const struct buffer *lines);

/* Append all to the remarks of `sum`, its heaps and runtimes: "3 of 5 processes: ...", "puma (4242): ...". Empties the list. */
void memory_remarks_finish(struct memory_remarks *remarks, struct memory_report *sum);

#endif
