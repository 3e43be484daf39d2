/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on the account of the control group. Pure. */
#ifndef VERDICT_MEMORY_VERDICT_GROUP_H
#define VERDICT_MEMORY_VERDICT_GROUP_H

#include "model/memory_report.h"

/* Add a verdict if most of the group's charge is page cache. */
void memory_verdict_group(struct memory_report *report);

/* Is the group's account that of the processes of the report, or asked for? */
bool memory_verdict_group_is_own(const struct memory_report *report);

/* Add a verdict if much of the group's account is shared memory, which no process may map. */
void memory_verdict_shared(struct memory_report *report);

#endif
