/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how much longer to trace until windows show what becomes of a row's blocks, assuming
 * that the program behaves as before. Pure.
 */
#ifndef VERDICT_BUDGET_WAIT_H
#define VERDICT_BUDGET_WAIT_H

#include <stdint.h>

#include "verdict/budget_estimate.h"

/*
 * For a row observed for `time_ns`, of which `old` blocks were followed for at least half of that.
 * Returns nanoseconds; 0 = not known: its heap cannot be counted, no block was followed, or it
 * would take more than a day.
 */
uint64_t budget_wait_of(const struct budget_estimate *estimate, uint64_t old, uint64_t time_ns);

#endif
