/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was in use over time, as a line of small bars. Pure. */
#ifndef TOP_TREND_H
#define TOP_TREND_H

#include <stdbool.h>

#include "analyze/history.h"
#include "base/buffer.h"

/*
 * Append `width` columns: a bar for each of as many equal parts of the moments, as high as the most that was in use then is of the most
 * ever. Fewer moments have one each, to the right. `ascii`: by characters that every terminal has.
 */
void trend_append(struct buffer *out, const struct history_point *points, size_t count,
		  size_t width, bool ascii);

#endif
