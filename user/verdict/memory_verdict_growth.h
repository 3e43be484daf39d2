/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on growth. Pure. */
#ifndef VERDICT_MEMORY_VERDICT_GROWTH_H
#define VERDICT_MEMORY_VERDICT_GROWTH_H

#include "model/memory_report.h"

/*
 * Add a verdict for each row with significant growth, after memory_growth_find; none for a first
 * look.
 */
void memory_verdict_growth(struct memory_report *report);

#endif
