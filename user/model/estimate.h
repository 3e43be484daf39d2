/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A figure that was not counted but estimated: never shown without its mark and its interval. */
#ifndef MODEL_ESTIMATE_H
#define MODEL_ESTIMATE_H

#include <stdint.h>

/* With its 95 % confidence limits; `high` may be INFINITY: only a lower bound is known. */
struct estimate {
	double value, low, high;
};

/* Whole bytes; what is beyond 64 bits is their limit. */
static inline int64_t estimate_bytes(double bytes)
{
	const double most = 9e18;

	if (!(bytes > -most))
		return -(int64_t)most;
	return bytes < most ? (int64_t)(bytes < 0 ? bytes - 0.5 : bytes + 0.5) : (int64_t)most;
}

#endif
