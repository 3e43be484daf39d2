/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Default sizes of the BPF maps. */
#ifndef COMMAND_TABLE_LIMITS_H
#define COMMAND_TABLE_LIMITS_H

#include <stdint.h>

#include "base/log.h"
#include "command/options.h"

struct table_limits {
	uint64_t blocks, stacks;
};

/* The sizes in `options`, or else those that fit into `memory` bytes (may be UINT64_MAX). */
struct table_limits table_limits_choose(const struct options *options, uint64_t memory);

/* The same for the memory available to this process; logs the sizes. */
struct table_limits table_limits_find(const struct options *options, const struct log *log);

#endif
