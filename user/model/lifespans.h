/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifespans of blocks: a histogram by powers of two, as BPF programs count it (LIFE_CLASSES in
 * tracer_abi.h), and sums, in units of 65,536 ns. A lifespan is the difference of two times in
 * whole units, so it may be off by one unit in either direction; the mean is not. No I/O.
 */
#ifndef MODEL_LIFESPANS_H
#define MODEL_LIFESPANS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer_abi.h"

/* For freed blocks. {0} is empty. */
struct lifespans {
	/* Blocks of unknown lifespan: moved on by realloc, or their free was not seen. */
	uint64_t untimed;
	/* Blocks freed by the next allocator call of their thread, as heaptrack counts. */
	uint64_t temporary;
	uint64_t units; /* sum of known lifespans */
	uint64_t longest; /* in units */
	uint64_t classes[LIFE_CLASSES];
};

/* The class of a lifespan or an age. */
unsigned int lifespans_class(uint64_t ns);
/* Start and end of a class in nanoseconds; UINT64_MAX = no end. */
uint64_t lifespans_class_start(unsigned int class);
uint64_t lifespans_class_end(unsigned int class);

/* Convert the counts of the BPF programs. */
struct lifespans lifespans_of(const struct site *record);

/* Add a block that was freed at this age. */
void lifespans_count(struct lifespans *lives, uint64_t ns);
/* Add `more` to `sum`; saturating. */
void lifespans_add(struct lifespans *sum, const struct lifespans *more);

/* Number of blocks with a known lifespan. */
uint64_t lifespans_objects(const struct lifespans *lives);
/* 0 if there are none. */
uint64_t lifespans_mean_ns(const struct lifespans *lives);
uint64_t lifespans_longest_ns(const struct lifespans *lives);

#endif
