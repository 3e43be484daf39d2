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
#include <stdlib.h>
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
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_F_NO_PREALLOC = 1,
	BPF_F_MMAPABLE = 1 << 10,
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#define SHIM_MAPS_MAX 32
#define SHIM_REGIONS_MAX 8

/* The values of a map. An array is asked by position; a hash knows one key for each value. */
struct shim_map {
	const void *map;
	void *values;
	size_t value_size;
	uint32_t count;
	const uint32_t *keys; /* NULL = an array */
};

/* A hash that BPF code fills, up to its capacity. */
struct shim_hash {
	const void *map;
	size_t key_size, value_size;
	uint32_t capacity, count;
	unsigned char *keys, *values;
	int refuses; /* a negative errno: updates fail with it */
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
	struct shim_hash hashes[SHIM_MAPS_MAX];
	uint32_t hash_count;
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

/* A hash of a test's, whose memory is freed by shim_free_hashes. */
static inline void shim_add_hash(const void *map, size_t key_size, size_t value_size,
				 uint32_t capacity)
{
	shim.hashes[shim.hash_count++] =
		(struct shim_hash){ .map = map,
				    .key_size = key_size,
				    .value_size = value_size,
				    .capacity = capacity,
				    .keys = calloc(capacity, key_size),
				    .values = calloc(capacity, value_size) };
}

static inline void shim_free_hashes(void)
{
	for (; shim.hash_count; shim.hash_count--) {
		free(shim.hashes[shim.hash_count - 1].keys);
		free(shim.hashes[shim.hash_count - 1].values);
	}
}

static inline struct shim_hash *shim_hash_of(const void *map)
{
	uint32_t i;

	for (i = 0; i < shim.hash_count; i++)
		if (shim.hashes[i].map == map)
			return &shim.hashes[i];
	return NULL;
}

/* Position of a key; the count if it is not there. */
static inline uint32_t shim_hash_find(const struct shim_hash *hash, const void *key)
{
	uint32_t at;

	for (at = 0; at < hash->count; at++)
		if (!memcmp(hash->keys + at * hash->key_size, key, hash->key_size))
			break;
	return at;
}

static inline long shim_hash_update(struct shim_hash *hash, const void *key, const void *value,
				    uint64_t flags)
{
	uint32_t at = shim_hash_find(hash, key);

	if (hash->refuses)
		return hash->refuses;
	if (at < hash->count && flags == BPF_NOEXIST)
		return -EEXIST;
	if (at == hash->capacity)
		return -E2BIG;
	hash->count += at == hash->count;
	memcpy(hash->keys + at * hash->key_size, key, hash->key_size);
	memcpy(hash->values + at * hash->value_size, value, hash->value_size);
	return 0;
}

static inline long bpf_map_delete_elem(const void *map, const void *key)
{
	struct shim_hash *hash = shim_hash_of(map);
	uint32_t at = hash ? shim_hash_find(hash, key) : 0;

	if (!hash || at == hash->count)
		return -ENOENT;
	hash->count--;
	memmove(hash->keys + at * hash->key_size, hash->keys + hash->count * hash->key_size,
		hash->key_size);
	memmove(hash->values + at * hash->value_size, hash->values + hash->count * hash->value_size,
		hash->value_size);
	return 0;
}

static inline void *bpf_map_lookup_elem(const void *map, const void *key)
{
	struct shim_hash *hash = shim_hash_of(map);
	uint32_t i, number;

	memcpy(&number, key, sizeof(number));
	if (shim.on_lookup)
		shim.on_lookup(map);
	if (hash) {
		i = shim_hash_find(hash, key);
		return i < hash->count ? hash->values + i * hash->value_size : NULL;
	}
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
/* Nothing looks up what it has stored, unless a test sets it. */
static void (*shim_on_update)(const void *map, const void *value);

static inline long bpf_map_update_elem(const void *map, const void *key, const void *value,
				       uint64_t flags)
{
	struct shim_hash *hash = shim_hash_of(map);

	if (shim_on_update)
		shim_on_update(map, value);
	return hash ? shim_hash_update(hash, key, value, flags) : 0;
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
