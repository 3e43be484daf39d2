/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the direct calls and jumps of one function go to, as far as its bytes decode in one sweep. */
#ifndef PROBE_CALLS_H
#define PROBE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/elf_file.h"

/* Does the function call, or jump to, something that `wanted` accepts? Targets are in bytes from the entry. */
bool calls_any(const uint8_t *code, size_t size, bool (*wanted)(void *context, int64_t target),
	       void *context);

/*
 * Does the function at file offset `entry` go back to its entry, right away or by code that it calls or jumps to? From
 * 2.43 on, glibc's free does so when a thread has no cache yet, and when its cache must be searched.
 */
bool calls_itself(struct elf_file *file, uint64_t entry, const uint8_t *code, size_t size);

#endif
