/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the targets of direct calls and jumps in a function, as far as its bytes decode in one
 * sweep.
 */
#ifndef PROBE_CALLS_H
#define PROBE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* Does the function call, or jump to, something that `wanted` accepts? Targets are in bytes from the entry. */
bool calls_any(const uint8_t *code, size_t size, bool (*wanted)(void *context, int64_t target),
	       void *context);

/*
 * Does the function at file offset `entry` jump back to its entry, directly or through code that it
 * calls or jumps to? Since 2.43, glibc's free does so when a thread has no cache yet, and when its
 * cache must be searched.
 */
bool calls_itself(struct elf_file *file, uint64_t entry, const uint8_t *code, size_t size);

#endif
