/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which classes of Ruby's or Python's objects have grown between two moments: two censuses of objects, without what holds them.
 * They show what the pages and arenas that a trace has counted are filled with.
 */
#ifndef MEMORY_MEMORY_CLASSES_H
#define MEMORY_MEMORY_CLASSES_H

#include <stdint.h>
#include <sys/types.h>

struct memory_classes;

/*
 * Count the objects of a process. NULL if it has none, or if they are not counted before `until_ns` (CLOCK_MONOTONIC). Free with
 * memory_classes_free.
 */
struct memory_classes *memory_classes_count(pid_t pid, uint64_t until_ns);
void memory_classes_free(struct memory_classes *classes);

/*
 * What has grown since `before`, most first: "Session +12,000, String +9,100". Names are those of the target, safe to print. NULL if none
 * has, or if the objects are not counted before `until_ns`; owned by the caller. `runtime` is "ruby" or "python".
 */
char *memory_classes_describe(const struct memory_classes *before, const char *runtime,
			      uint64_t until_ns);

#endif
