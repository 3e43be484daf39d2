/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See table_limits.h. */
#include "command/table_limits.h"

#include "system/cgroup.h"
#include "system/cgroup_memory.h"

#define BLOCKS_DEFAULT (1ull << 20)
#define STACKS_DEFAULT (1ull << 16)

/* Fewer would be of no use, whatever the memory. */
#define BLOCKS_LEAST (1ull << 16)
#define STACKS_LEAST (1ull << 10)

/* What one takes at most, in the kernel and in the tracer: a deep stack of Ruby, with names of its own. */
#define BLOCK_BYTES 144
#define STACK_BYTES 20992

/* Parts of the memory. The rest is for the program itself, its workers and what else its group has. */
#define BLOCKS_SHARE 8
#define STACKS_SHARE 2

static uint64_t limit_of(uint64_t memory, uint64_t bytes, uint64_t least, uint64_t most)
{
	uint64_t count = memory / bytes;

	if (count < least)
		return least;
	return count < most ? count : most;
}

struct table_limits table_limits_choose(const struct options *options, uint64_t memory)
{
	struct table_limits limits = { options->max_blocks, options->max_stacks };

	/* A window has few, and the whole table is read while probes are in. */
	if (!limits.blocks && options->budget)
		limits.blocks = BLOCKS_LEAST;
	if (!limits.blocks)
		limits.blocks =
			limit_of(memory / BLOCKS_SHARE, BLOCK_BYTES, BLOCKS_LEAST, BLOCKS_DEFAULT);
	if (!limits.stacks)
		limits.stacks =
			limit_of(memory / STACKS_SHARE, STACK_BYTES, STACKS_LEAST, STACKS_DEFAULT);
	return limits;
}

struct table_limits table_limits_find(const struct options *options, const struct log *log)
{
	uint64_t memory = cgroup_memory_limit("/proc", CGROUP_ROOT);
	struct table_limits limits = table_limits_choose(options, memory);

	if (memory != UINT64_MAX)
		log_write(log, LOG_VERBOSE,
			  "the memory limit of this control group is %llu MiB: room for %llu "
			  "blocks (--max-blocks) and %llu stacks (--max-stacks)",
			  (unsigned long long)(memory >> 20), (unsigned long long)limits.blocks,
			  (unsigned long long)limits.stacks);
	return limits;
}
