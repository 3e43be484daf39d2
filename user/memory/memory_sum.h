/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up looks at several processes. Pure. */
#ifndef MEMORY_MEMORY_SUM_H
#define MEMORY_MEMORY_SUM_H

#include "memory/memory_remarks.h"
#include "model/memory_report.h"

/*
 * Add the process of `report` to `sum`: everything below, and its own figures. Remarks go to
 * `remarks`; memory_remarks_finish writes them to `sum` after the last process.
 */
void memory_sum_add(struct memory_report *sum, const struct memory_report *report,
		    struct memory_remarks *remarks);

/*
 * Add the runtimes of `report` to `sum`: those of one name and version become one row, and so do
 * their classes of one name. The process is the last member of `sum`.
 */
void memory_sum_runtimes(struct memory_report *sum, const struct memory_report *report,
			 struct memory_remarks *remarks);

/*
 * Add the kinds of live blocks of `report` to `sum`: those of one kind, name, holder and size
 * become one row.
 */
void memory_sum_kinds(struct memory_report *sum, const struct memory_report *report);

#endif
