/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws memory in use over time as a line of small bars. Pure. */
#ifndef TOP_TREND_H
#define TOP_TREND_H

#include <stdbool.h>

#include "verdict/history.h"
#include "base/buffer.h"

/*
 * Append `width` columns: one bar for each equal part of the moments, proportional to its maximum
 * relative to the overall maximum. With fewer moments, one bar each, right-aligned. `ascii`: use
 * only ASCII characters.
 */
void trend_append(struct buffer *out, const struct history_point *points, size_t count,
		  size_t width, bool ascii);

#endif
