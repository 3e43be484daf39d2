/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on the account of the control group. Pure. */
#ifndef VERDICT_MEMORY_VERDICT_GROUP_H
#define VERDICT_MEMORY_VERDICT_GROUP_H

#include "model/memory_report.h"

/* Add a verdict if most of the group's charge is page cache. */
void memory_verdict_group(struct memory_report *report);

#endif
