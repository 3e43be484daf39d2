/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the direct calls and jumps of one function go to, as far as its bytes decode in one sweep. */
#ifndef PROBE_CALLS_H
#define PROBE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does the function call, or jump to, something that `wanted` accepts? Targets are in bytes from the entry. */
bool calls_any(const uint8_t *code, size_t size, bool (*wanted)(void *context, int64_t target),
	       void *context);

#endif
