/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What part of the windows was the target's own time, by the growth of its heap: of what a class of sizes grows by, windows see as much as
 * that part is. Where some old blocks are written to, a class alone does not show it, since these may be of the growth, too. Several
 * classes whose blocks are written to as different parts, and that agree all the same, show that the written ones are none of it. Pure.
 */
#ifndef ANALYZE_OWN_TIME_H
#define ANALYZE_OWN_TIME_H

#include <stddef.h>

#include "model/estimate.h"

/* A class of sizes: what windows have seen of old blocks in it, and its growth in bytes per second. */
struct own_time_class {
	/* Unchanged blocks; and so many that are independent of each other: what windows differ in is the same for all classes. */
	double seen, independent;
	double bytes, written_bytes;
	double growth, growth_error; /* and its standard error */
};

/*
 * Put what most classes agree in, the heavier the fewer of their blocks are written to, into `own`, within its limits; and lower its
 * `high` to what they allow at most. `window_s` is the length of all windows in which the blocks were born. `own` stays as it is where there are
 * neither two classes that agree, nor one in which next to nothing is written to.
 */
void own_time_calibrate(const struct own_time_class *classes, size_t count, double window_s,
			struct estimate *own);

#endif
