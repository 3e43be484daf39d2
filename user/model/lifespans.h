/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long blocks live: a histogram by powers of two, as BPF programs count it (LIFE_CLASSES in tracer_abi.h), and sums. Lifespans are
 * in units of 65,536 ns. A lifespan is the difference of two times that are whole units, so it may be off by one unit; the mean is
 * not, since that goes either way. No I/O.
 */
#ifndef MODEL_LIFESPANS_H
#define MODEL_LIFESPANS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer_abi.h"

/* Of blocks that were freed. {0} = of none. */
struct lifespans {
	/* Of which no lifespan is known: realloc has moved them on, or their free was not seen. */
	uint64_t untimed;
	/* Freed by the next call of the thread that had made them, as heaptrack counts. */
	uint64_t temporary;
	uint64_t units; /* sum of the lifespans that are known */
	uint64_t longest; /* in units */
	uint64_t classes[LIFE_CLASSES];
};

/* The class of a lifespan or an age. */
unsigned int lifespans_class(uint64_t ns);
/* Where a class begins, and where it ends; UINT64_MAX = nowhere. In nanoseconds. */
uint64_t lifespans_class_start(unsigned int class);
uint64_t lifespans_class_end(unsigned int class);

/* As BPF programs have counted them. */
struct lifespans lifespans_of(const struct site *record);

/* Add a block that was freed at this age. */
void lifespans_count(struct lifespans *lives, uint64_t ns);
/* Add `more` to `sum`, which stays at its limits. */
void lifespans_add(struct lifespans *sum, const struct lifespans *more);

/* Blocks with a lifespan. */
uint64_t lifespans_objects(const struct lifespans *lives);
/* 0 if there are none. */
uint64_t lifespans_mean_ns(const struct lifespans *lives);
uint64_t lifespans_longest_ns(const struct lifespans *lives);

#endif
