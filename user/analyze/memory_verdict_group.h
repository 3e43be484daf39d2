/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the verdict about the account of the control group. Pure. */
#ifndef ANALYZE_MEMORY_VERDICT_GROUP_H
#define ANALYZE_MEMORY_VERDICT_GROUP_H

#include "model/memory_report.h"

/* Add a verdict if most of what the group is charged with is page cache. */
void memory_verdict_group(struct memory_report *report);

#endif
