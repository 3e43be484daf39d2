/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds classes of Ruby or Python objects that have grown between two moments, by two censuses
 * without holders. They explain what fills the pages and arenas that a trace has counted.
 */
#ifndef MEMORY_MEMORY_CLASSES_H
#define MEMORY_MEMORY_CLASSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "verdict/memory_growth.h"

struct memory_classes;

/*
 * Count the objects of a process. NULL if it has none, or at the time limit `until_ns`
 * (CLOCK_MONOTONIC). Free with memory_classes_free.
 */
struct memory_classes *memory_classes_count(pid_t pid, uint64_t until_ns);
void memory_classes_free(struct memory_classes *classes);

/*
 * Find growth since `before`. Names come from the target, made safe to print. `runtime` is "ruby"
 * or "python". False at the time limit `until_ns`, or if the runtime is gone; otherwise free
 * `ret_classes` with memory_growth_free_classes.
 */
bool memory_classes_compare(const struct memory_classes *before, const char *runtime,
			    uint64_t until_ns, struct grown_classes *ret_classes);

#endif
