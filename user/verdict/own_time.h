/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates which part of the windows was the target's own time, from the growth of its heap:
 * windows see that fraction of the growth of each size class. Where some old blocks were written
 * to, a single class does not show the fraction, since these may be growth, too. If several classes
 * with different shares of written blocks still agree, the written blocks are not growth. Pure.
 */
#ifndef VERDICT_OWN_TIME_H
#define VERDICT_OWN_TIME_H

#include <stddef.h>

#include "model/estimate.h"

/* A size class: the old blocks that windows have seen in it, and its growth in bytes per second. */
struct own_time_class {
	/*
	 * Unchanged blocks; and their number of independent observations, since differences between
	 * windows affect all classes alike.
	 */
	double seen, independent;
	double bytes, written_bytes;
	double growth, growth_error; /* and the standard error of growth */
};

/*
 * Set `own`, within its limits, to the value on which most classes agree, weighted towards classes
 * with few written blocks; and lower its `high` to the most that they allow. `window_s` is the
 * total length of the windows in which the blocks were born. Leaves `own` alone if no two classes
 * agree and no class is almost free of written blocks.
 */
void own_time_calibrate(const struct own_time_class *classes, size_t count, double window_s,
			struct estimate *own);

#endif
