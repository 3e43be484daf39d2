/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of confidence, all of 95 % and with two sides, and what becomes of them when estimates are added or multiplied. Pure. */
#ifndef ANALYZE_INTERVAL_H
#define ANALYZE_INTERVAL_H

#include "model/estimate.h"

#define INTERVAL_Z 1.959963984540054 /* of the normal distribution */

/* The quantile of Student's distribution that takes the place of INTERVAL_Z; `degrees` of freedom, at least 1. */
double interval_student(double degrees);

/* The share of `count` in `total`, by Wilson's score. Both may be fractions: effective numbers. Of nothing: 0 to 1. */
struct estimate interval_share(double count, double total);

/* The mean of a Poisson distribution that gave `count`: Wilson and Hilferty's approximation of the exact interval. */
struct estimate interval_count(double count);

/* The least share of which `total` cases that are all alike are no surprise: 0.025 ^ (1 / total). */
double interval_all(double total);

/* Of independent estimates; distances to the limits are added as squares. Factors must not be negative, but for the first. */
struct estimate interval_add(struct estimate left, struct estimate right);
struct estimate interval_subtract(struct estimate left, struct estimate right);
struct estimate interval_multiply(struct estimate left, struct estimate right);

/* By an exact number that is not negative. */
struct estimate interval_scale(struct estimate estimate, double factor);

#endif
