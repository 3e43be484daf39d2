/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of the BPF programs as lists in memory. Include it once in a test program. */
#ifndef TESTS_FAKE_MAPS_H
#define TESTS_FAKE_MAPS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/maps.h"
#include "interp_abi.h"
#include "tracer_abi.h"

struct fake_map {
	unsigned char *keys, *values;
	size_t count, key_capacity, value_capacity;
	bool missing; /* the loaded programs do without it */
	int read_error, remove_error; /* of each call, 0 = none */
	size_t reads;
};

static struct fake_map fake_maps[MAPS_COUNT];

static const struct {
	size_t key, value;
} fake_map_sizes[MAPS_COUNT] = {
	[MAPS_SITES] = { sizeof(uint64_t), sizeof(struct site) },
	[MAPS_SITE_THREADS] = { sizeof(uint64_t), sizeof(struct site_thread) },
	[MAPS_BLOCKS] = { sizeof(struct block_key), sizeof(struct block) },
	[MAPS_SAMPLES] = { sizeof(struct block_key), sizeof(struct sampled_block) },
	[MAPS_STACKS] = { sizeof(uint64_t), sizeof(struct stack_record) },
	[MAPS_INTERP_STACKS] = { sizeof(uint64_t), sizeof(struct interp_record) },
	[MAPS_THREADS_BY_ID] = { sizeof(uint32_t), sizeof(uint32_t) },
	[MAPS_SHAPES] = { sizeof(uint32_t), sizeof(uint32_t) },
	[MAPS_INTERP_WALKS_BY_ID] = { sizeof(uint32_t), sizeof(uint32_t) },
	[MAPS_INNER_CALLERS] = { sizeof(uint32_t), sizeof(struct inner_callers) },
	[MAPS_FIXED_SIZES] = { sizeof(uint32_t), sizeof(uint64_t) },
	[MAPS_SAMPLE_SITES] = { sizeof(uint32_t), sizeof(struct sample_site) },
	[MAPS_TARGET_IDS] = { sizeof(int), sizeof(uint32_t) },
	[MAPS_HITS] = { sizeof(struct hit_key), sizeof(struct hits) },
	[MAPS_KERNEL_BLOCKS] = { sizeof(uint64_t), sizeof(struct kernel_block) },
	[MAPS_KERNEL_CACHES] = { sizeof(uint64_t), sizeof(struct kernel_cache) },
};

/* The position of a key; `count` if it is not there. */
static size_t fake_map_find(enum maps_id map, const void *key)
{
	size_t i, size = fake_map_sizes[map].key;

	for (i = 0; i < fake_maps[map].count; i++)
		if (!memcmp(fake_maps[map].keys + i * size, key, size))
			break;
	return i;
}

static bool fake_map_exists(void *context, enum maps_id map)
{
	(void)context;
	return !fake_maps[map].missing;
}

static int fake_map_get(void *context, enum maps_id map, const void *key, void *ret_value)
{
	size_t at = fake_map_find(map, key), size = fake_map_sizes[map].value;

	(void)context;
	if (at == fake_maps[map].count)
		return -ENOENT;
	memcpy(ret_value, fake_maps[map].values + at * size, size);
	return 0;
}

static int fake_map_set(void *context, enum maps_id map, const void *key, const void *value)
{
	struct fake_map *fake = &fake_maps[map];
	size_t at = fake_map_find(map, key);

	(void)context;
	if (fake->missing)
		abort();
	fake->keys =
		memory_grow(fake->keys, fake->count, &fake->key_capacity, fake_map_sizes[map].key);
	fake->values = memory_grow(fake->values, fake->count, &fake->value_capacity,
				   fake_map_sizes[map].value);
	memcpy(fake->keys + at * fake_map_sizes[map].key, key, fake_map_sizes[map].key);
	memcpy(fake->values + at * fake_map_sizes[map].value, value, fake_map_sizes[map].value);
	fake->count += at == fake->count;
	return 0;
}

static int fake_map_remove(void *context, enum maps_id map, const void *key)
{
	struct fake_map *fake = &fake_maps[map];
	size_t at = fake_map_find(map, key), key_size = fake_map_sizes[map].key,
	       value_size = fake_map_sizes[map].value;

	(void)context;
	if (fake->missing)
		abort();
	if (fake->remove_error || at == fake->count)
		return fake->remove_error ? fake->remove_error : -ENOENT;
	fake->count--;
	memmove(fake->keys + at * key_size, fake->keys + (at + 1) * key_size,
		(fake->count - at) * key_size);
	memmove(fake->values + at * value_size, fake->values + (at + 1) * value_size,
		(fake->count - at) * value_size);
	return 0;
}

static int fake_map_take(void *context, enum maps_id map, const void *key, void *ret_value)
{
	int code = fake_map_get(context, map, key, ret_value);

	return code ? code : fake_map_remove(context, map, key);
}

static int fake_map_add(void *context, enum maps_id map, const void *key, const void *value)
{
	if (fake_map_find(map, key) < fake_maps[map].count)
		return -EEXIST;
	return fake_map_set(context, map, key, value);
}

static int fake_map_read(void *context, enum maps_id map,
			 void (*visit)(void *visitor, const void *key, const void *value),
			 void *visitor)
{
	struct fake_map *fake = &fake_maps[map];
	size_t i;

	(void)context;
	fake->reads++;
	for (i = 0; i < fake->count && !fake->read_error; i++)
		visit(visitor, fake->keys + i * fake_map_sizes[map].key,
		      fake->values + i * fake_map_sizes[map].value);
	return fake->read_error;
}

static const struct maps_operations fake_map_operations = {
	.exists = fake_map_exists,
	.get = fake_map_get,
	.set = fake_map_set,
	.remove = fake_map_remove,
	.take = fake_map_take,
	.add = fake_map_add,
	.read = fake_map_read,
};

static const struct maps fake_maps_all = { &fake_map_operations, NULL };

/* Empty all maps; also at the end. */
static void fake_maps_reset(void)
{
	size_t i;

	for (i = 0; i < MAPS_COUNT; i++) {
		free(fake_maps[i].keys);
		free(fake_maps[i].values);
		fake_maps[i] = (struct fake_map){ 0 };
	}
}

static __attribute__((unused)) bool fake_map_has(enum maps_id map, const void *key)
{
	return fake_map_find(map, key) < fake_maps[map].count;
}

#endif
