/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures that are estimated: what they are, and what they should be within. */
#ifndef UNIT_NEAR_H
#define UNIT_NEAR_H

#include <math.h>

/* Fails unless `value` differs from `expected` by at most `precision`. */
static inline void check_near(double value, double expected, double precision)
{
	if (!(fabs(value - expected) <= precision))
		fail_msg("%.6f, and not %.6f", value, expected);
}

#endif
