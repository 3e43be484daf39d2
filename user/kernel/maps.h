/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session's interface to the maps of the BPF programs. Unit tests replace them by tables. */
#ifndef KERNEL_MAPS_H
#define KERNEL_MAPS_H

#include <stdbool.h>
#include <stddef.h>

enum maps_id {
	MAPS_SITES,
	MAPS_SITE_THREADS,
	MAPS_BLOCKS,
	MAPS_SAMPLES,
	MAPS_STACKS,
	MAPS_INTERP_STACKS,
	MAPS_THREADS_BY_ID,
	MAPS_SHAPES,
	MAPS_INTERP_WALKS_BY_ID,
	MAPS_INNER_CALLERS,
	MAPS_FIXED_SIZES,
	MAPS_SAMPLE_SITES,
	MAPS_TARGET_IDS,
	MAPS_HITS,
	/* Of the kernel's own memory: struct kernel_block, and struct kernel_cache by the key of its site. */
	MAPS_KERNEL_BLOCKS,
	MAPS_KERNEL_CACHES,
	MAPS_COUNT,
};

/* Keys and values are the structs of the BPF programs. All return 0 or a negative errno. */
struct maps_operations {
	/* False if the loaded programs do not use the map. */
	bool (*exists)(void *context, enum maps_id map);
	int (*get)(void *context, enum maps_id map, const void *key, void *ret_value);
	int (*set)(void *context, enum maps_id map, const void *key, const void *value);
	int (*remove)(void *context, enum maps_id map, const void *key);
	/* Get and remove in one step; an error if the kernel lacks that. */
	int (*take)(void *context, enum maps_id map, const void *key, void *ret_value);
	/* Set a new entry: -EEXIST if it exists. */
	int (*add)(void *context, enum maps_id map, const void *key, const void *value);
	/* As map_read() of map_reader.h. */
	int (*read)(void *context, enum maps_id map,
		    void (*visit)(void *visitor, const void *key, const void *value),
		    void *visitor);
};

struct maps {
	const struct maps_operations *operations;
	void *context;
};

static inline bool maps_exist(const struct maps *maps, enum maps_id map)
{
	return maps->operations->exists(maps->context, map);
}

static inline int maps_get(const struct maps *maps, enum maps_id map, const void *key,
			   void *ret_value)
{
	return maps->operations->get(maps->context, map, key, ret_value);
}

static inline int maps_set(const struct maps *maps, enum maps_id map, const void *key,
			   const void *value)
{
	return maps->operations->set(maps->context, map, key, value);
}

static inline int maps_remove(const struct maps *maps, enum maps_id map, const void *key)
{
	return maps->operations->remove(maps->context, map, key);
}

static inline int maps_take(const struct maps *maps, enum maps_id map, const void *key,
			    void *ret_value)
{
	return maps->operations->take(maps->context, map, key, ret_value);
}

static inline int maps_add(const struct maps *maps, enum maps_id map, const void *key,
			   const void *value)
{
	return maps->operations->add(maps->context, map, key, value);
}

static inline int maps_read(const struct maps *maps, enum maps_id map,
			    void (*visit)(void *visitor, const void *key, const void *value),
			    void *visitor)
{
	return maps->operations->read(maps->context, map, visit, visitor);
}

#endif
