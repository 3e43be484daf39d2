/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the memory of a process is mostly for, in sentences: the cause, how many bytes, and what can be done. Pure. */
#ifndef ANALYZE_MEMORY_VERDICT_H
#define ANALYZE_MEMORY_VERDICT_H

#include "model/memory_report.h"

/*
 * Fill the verdicts of a report, whose other parts are complete: what has grown first, then the largest first. There is at least
 * one if the process has memory at all.
 */
void memory_verdict_find(struct memory_report *report);

#endif
