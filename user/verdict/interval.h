/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two-sided 95 % confidence intervals, and their arithmetic. Pure. */
#ifndef VERDICT_INTERVAL_H
#define VERDICT_INTERVAL_H

#include "model/estimate.h"

#define INTERVAL_Z 1.959963984540054 /* quantile of the normal distribution */

/*
 * The quantile of Student's t distribution corresponding to INTERVAL_Z; `degrees` of freedom, at
 * least 1.
 */
double interval_student(double degrees);

/*
 * Wilson's interval of the share `count` / `total`; both may be fractional effective numbers. 0 to
 * 1 if `total` is 0.
 */
struct estimate interval_share(double count, double total);

/*
 * Interval of a Poisson mean from an observed count: Wilson and Hilferty's approximation of the
 * exact interval.
 */
struct estimate interval_count(double count);

/* The least share for which `total` out of `total` cases is unsurprising: 0.025 ^ (1 / total). */
double interval_all(double total);

/*
 * Sum and product of independent estimates; distances to the limits add as squares. Factors must
 * not be negative, except the first.
 */
struct estimate interval_add(struct estimate left, struct estimate right);
struct estimate interval_subtract(struct estimate left, struct estimate right);
struct estimate interval_multiply(struct estimate left, struct estimate right);

/* Multiply by an exact, non-negative number. */
struct estimate interval_scale(struct estimate estimate, double factor);

#endif
