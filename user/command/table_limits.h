/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much the kernel's tables may hold, where the user does not say it. */
#ifndef COMMAND_TABLE_LIMITS_H
#define COMMAND_TABLE_LIMITS_H

#include <stdint.h>

#include "base/log.h"
#include "command/options.h"

struct table_limits {
	uint64_t blocks, stacks;
};

/* What `options` say, or else so much that it fits into `memory` bytes, which may be UINT64_MAX. */
struct table_limits table_limits_choose(const struct options *options, uint64_t memory);

/* The same for the memory that this process may have, saying what that comes to. */
struct table_limits table_limits_find(const struct options *options, const struct log *log);

#endif
