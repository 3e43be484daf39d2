/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers of interpreters' frames on the host: their maps, and one walk. */
#ifndef TESTS_INTERP_WORLD_H
#define TESTS_INTERP_WORLD_H

#include <stdlib.h>

#define SHIM_OWN_UPDATES
#include "shim.h"

#define INTERP_WORLD_CODES 256

struct interp_code;
static long interp_world_store(__u64 key, const struct interp_code *code);

/* Only code objects are ever stored. */
static inline long bpf_map_update_elem(const void *map, const void *key, const void *value,
				       uint64_t flags)
{
	__u64 number;

	(void)map;
	(void)flags;
	memcpy(&number, key, sizeof(number));
	return interp_world_store(number, value);
}

/* The shim's keys have 32 bits: their low halves are distinguished well enough by a hash. */
#include "interp.bpf.h"

struct interp_world {
	struct interp_process process;
	struct interp_walk walk;
	uint32_t keys[INTERP_WORLD_CODES];
	struct interp_code codes[INTERP_WORLD_CODES];
	uint32_t code_count;
	struct interp_ends ends;
};

static struct interp_world world;

static long interp_world_store(__u64 key, const struct interp_code *code)
{
	if (world.code_count >= INTERP_WORLD_CODES)
		return -E2BIG;
	world.keys[world.code_count] = (uint32_t)key;
	world.codes[world.code_count++] = *code;
	shim.maps[0].count = world.code_count;
	return 0;
}

static inline void interp_world_start(void)
{
	memset(&shim, 0, sizeof(shim));
	memset(&world, 0, sizeof(world));
	shim_add_map(&interp_codes, world.codes, sizeof(world.codes[0]), 0, world.keys);
	shim_add_map(&interp_ends, &world.ends, sizeof(world.ends), 1, NULL);
}

/* What was copied for a frame; NULL = nothing. */
static inline const struct interp_code *interp_world_copy(const struct interp_frame *frame)
{
	return frame->content ? bpf_map_lookup_elem(&interp_codes, &frame->content) : NULL;
}

#endif
