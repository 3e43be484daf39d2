/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains what the memory of a process is mostly used for, in sentences: cause, bytes, and remedy.
 * Pure.
 */
#ifndef VERDICT_MEMORY_VERDICT_H
#define VERDICT_MEMORY_VERDICT_H

#include "model/memory_report.h"

/*
 * Fill in the verdicts of an otherwise complete report: growth first, then by size. There is at
 * least one if the process has any memory.
 */
void memory_verdict_find(struct memory_report *report);

#endif
