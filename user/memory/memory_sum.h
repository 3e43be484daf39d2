/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at several processes added up. Pure. */
#ifndef MEMORY_MEMORY_SUM_H
#define MEMORY_MEMORY_SUM_H

#include "memory/memory_remarks.h"
#include "model/memory_report.h"

/*
 * Add up the process of `report` in `sum`, as one of several: all of what follows, and its figures. Its remarks go to `remarks`, which
 * memory_remarks_finish writes to `sum` after the last process.
 */
void memory_sum_add(struct memory_report *sum, const struct memory_report *report,
		    struct memory_remarks *remarks);

/* Add the runtimes of `report` to those of `sum`: those of one name and version are one row, and so are their classes of one name. The process is the last member of `sum`. */
void memory_sum_runtimes(struct memory_report *sum, const struct memory_report *report,
			 struct memory_remarks *remarks);

/* Add the kinds of live blocks of `report` to those of `sum`: those of one kind, name, holder and size are one row. */
void memory_sum_kinds(struct memory_report *sum, const struct memory_report *report);

#endif
