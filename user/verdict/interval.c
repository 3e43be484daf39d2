/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interval.h. */
#include "verdict/interval.h"

#include <math.h>

#define TAIL 0.025 /* beyond each limit */

double interval_student(double degrees)
{
	static const double few[] = { 12.706, 4.303, 3.182, 2.776, 2.571,
				      2.447,  2.365, 2.306, 2.262, 2.228 };
	const double z = INTERVAL_Z, z3 = z * z * z, z5 = z3 * z * z;

	if (!(degrees >= 1))
		degrees = 1;
	if (degrees < 11)
		return few[(int)degrees - 1];
	return z + (z3 + z) / (4 * degrees) + (5 * z5 + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

struct estimate interval_share(double count, double total)
{
	const double z2 = INTERVAL_Z * INTERVAL_Z;
	double share, middle, width;

	if (!(total > 0))
		return (struct estimate){ 0, 0, 1 };
	share = fmin(fmax(count / total, 0), 1);
	middle = (share + z2 / (2 * total)) / (1 + z2 / total);
	width = INTERVAL_Z / (1 + z2 / total) *
		sqrt(share * (1 - share) / total + z2 / (4 * total * total));
	return (struct estimate){ share, fmin(fmax(middle - width, 0), share),
				  fmax(fmin(middle + width, 1), share) };
}

/* The cube that Wilson and Hilferty take a quantile of chi-square for. */
static double interval_cube(double count, double z)
{
	double root;

	if (!(count > 0))
		return 0;
	root = 1 - 1 / (9 * count) + z / (3 * sqrt(count));
	return root > 0 ? count * root * root * root : 0;
}

struct estimate interval_count(double count)
{
	count = fmax(count, 0);
	return (struct estimate){ count, fmin(interval_cube(count, -INTERVAL_Z), count),
				  interval_cube(count + 1, INTERVAL_Z) };
}

double interval_all(double total)
{
	return total > 0 ? pow(TAIL, 1 / total) : 0;
}

/* INFINITY less INFINITY is nothing that can be added. */
static double interval_limit(double value, double left, double right)
{
	if (isinf(left) || isinf(right))
		return INFINITY;
	return value + hypot(left, right);
}

struct estimate interval_add(struct estimate left, struct estimate right)
{
	double value = left.value + right.value;

	return (struct estimate){
		value, value - hypot(left.value - left.low, right.value - right.low),
		interval_limit(value, left.high - left.value, right.high - right.value)
	};
}

struct estimate interval_subtract(struct estimate left, struct estimate right)
{
	return interval_add(left, (struct estimate){ -right.value, -right.high, -right.low });
}

struct estimate interval_multiply(struct estimate left, struct estimate right)
{
	double value = left.value * right.value, size = fabs(left.value);
	/* A product with a negative number falls where the factor rises. */
	double below = left.value < 0 ? right.high - right.value : right.value - right.low;
	double above = left.value < 0 ? right.value - right.low : right.high - right.value;

	return (struct estimate){
		value,
		value - hypot((left.value - left.low) * right.value, below * size),
		interval_limit(value, right.value > 0 ? (left.high - left.value) * right.value : 0,
			       size > 0 ? above * size : 0),
	};
}

struct estimate interval_scale(struct estimate estimate, double factor)
{
	if (!(factor > 0))
		return (struct estimate){ 0 };
	return (struct estimate){ estimate.value * factor, estimate.low * factor,
				  estimate.high * factor };
}
