/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much longer one would have to look until windows show what becomes of a row's blocks. An estimate itself: as if the program goes on as it
 * has. Pure.
 */
#ifndef ANALYZE_BUDGET_WAIT_H
#define ANALYZE_BUDGET_WAIT_H

#include <stdint.h>

#include "analyze/budget_estimate.h"

/*
 * Of a row that was looked at for `time_ns`, of whose blocks `old` were followed for half of that or more. Returns nanoseconds; 0 = not known:
 * its heap cannot be counted, no block of it was followed, or it would be more than a day.
 */
uint64_t budget_wait_of(const struct budget_estimate *estimate, uint64_t old, uint64_t time_ns);

#endif
