/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which classes of Ruby's or Python's objects have grown between two moments: two censuses of objects, without what holds them.
 * They show what the pages and arenas that a trace has counted are filled with.
 */
#ifndef MEMORY_MEMORY_CLASSES_H
#define MEMORY_MEMORY_CLASSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analyze/memory_growth.h"

struct memory_classes;

/*
 * Count the objects of a process. NULL if it has none, or if they are not counted before `until_ns` (CLOCK_MONOTONIC). Free with
 * memory_classes_free.
 */
struct memory_classes *memory_classes_count(pid_t pid, uint64_t until_ns);
void memory_classes_free(struct memory_classes *classes);

/*
 * What has grown since `before`. Names are those of the target, safe to print. False if the objects are not counted before `until_ns`, or
 * there is no such runtime any more; else free `ret_classes` with memory_growth_free_classes. `runtime` is "ruby" or "python".
 */
bool memory_classes_compare(const struct memory_classes *before, const char *runtime,
			    uint64_t until_ns, struct grown_classes *ret_classes);

#endif
