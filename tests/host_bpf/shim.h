/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What BPF code needs to run on the host: the macros of libbpf, maps that are plain arrays, and another process's
 * memory that is a list of regions. To be included before any *.bpf.h; one test program has one world.
 */
#ifndef TESTS_HOST_BPF_SHIM_H
#define TESTS_HOST_BPF_SHIM_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/cdefs.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define __noinline __attribute__((noinline))
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_ANY = 0,
};

#define SHIM_MAPS_MAX 16
#define SHIM_REGIONS_MAX 8

/* The values of a map. An array is asked by position; a hash knows one key for each value. */
struct shim_map {
	const void *map;
	void *values;
	size_t value_size;
	uint32_t count;
	const uint32_t *keys; /* NULL = an array */
};

/* Memory of the traced process. What is not resident cannot be read. */
struct shim_region {
	uint64_t start;
	const void *bytes;
	size_t size;
	bool absent;
};

struct shim {
	struct shim_map maps[SHIM_MAPS_MAX];
	uint32_t map_count;
	struct shim_region regions[SHIM_REGIONS_MAX];
	uint32_t region_count;
	uint64_t pid_tgid;
	void (*on_lookup)(const void *map); /* called before each look-up, if set */
	/* Reads memory in place of the regions, if set. */
	bool (*on_read)(void *to, size_t size, uint64_t address);
	uint64_t reads; /* of user memory */
};

static struct shim shim;

static inline void shim_add_map(const void *map, void *values, size_t value_size, uint32_t count,
				const uint32_t *keys)
{
	shim.maps[shim.map_count++] = (struct shim_map){
		.map = map, .values = values, .value_size = value_size, .count = count, .keys = keys
	};
}

static inline void shim_add_region(uint64_t start, const void *bytes, size_t size, bool absent)
{
	shim.regions[shim.region_count++] = (struct shim_region){
		.start = start, .bytes = bytes, .size = size, .absent = absent
	};
}

static inline void *shim_value(const struct shim_map *map, uint32_t key)
{
	uint32_t at = key;

	if (map->keys)
		for (at = 0; at < map->count && map->keys[at] != key; at++)
			;
	return at < map->count ? (char *)map->values + at * map->value_size : NULL;
}

static inline void *bpf_map_lookup_elem(const void *map, const void *key)
{
	uint32_t i, number;

	memcpy(&number, key, sizeof(number));
	if (shim.on_lookup)
		shim.on_lookup(map);
	for (i = 0; i < shim.map_count; i++)
		if (shim.maps[i].map == map)
			return shim_value(&shim.maps[i], number);
	return NULL;
}

/* The region that holds all of a range, or NULL: a read is all or nothing. */
static inline struct shim_region *shim_find(uint64_t address, size_t size)
{
	struct shim_region *region = shim.regions;

	for (; region < shim.regions + shim.region_count; region++)
		if (address >= region->start && address - region->start <= region->size &&
		    size <= region->size - (address - region->start))
			return region;
	return NULL;
}

static inline long shim_read(void *to, size_t size, uint64_t address)
{
	struct shim_region *region = shim_find(address, size);

	shim.reads++;
	if (shim.on_read)
		return shim.on_read(to, size, address) ? 0 : -EFAULT;
	if (!region || region->absent)
		return -EFAULT;
	memcpy(to, (const char *)region->bytes + (address - region->start), size);
	return 0;
}

static inline long bpf_probe_read_user(void *to, uint32_t size, const void *address)
{
	return shim_read(to, size, (uintptr_t)address);
}

#ifndef SHIM_OWN_UPDATES
/* Nothing looks up what it has stored, unless a test wants to know of it. */
static void (*shim_on_update)(const void *map, const void *value);

static inline long bpf_map_update_elem(const void *map, const void *key, const void *value,
				       uint64_t flags)
{
	(void)key;
	(void)flags;
	if (shim_on_update)
		shim_on_update(map, value);
	return 0;
}
#endif

static inline uint64_t bpf_get_current_pid_tgid(void)
{
	return shim.pid_tgid;
}

#define bpf_loop(count, callback, context, flags)                               \
	do {                                                                    \
		uint32_t shim_turn;                                             \
                                                                                \
		for (shim_turn = 0; shim_turn < (uint32_t)(count); shim_turn++) \
			if (callback(shim_turn, context))                       \
				break;                                          \
	} while (0)

#endif
