/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See map_reader.h. A batch is always whole buckets of the kernel's hash table, read under the bucket's lock; walking
 * from key to key instead would start again when the key at hand is deleted.
 */
#include "kernel/map_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

/* Entries of one call; the kernel returns ENOSPC if a single bucket has more. */
#define BATCH_ENTRIES 4096
#define BATCH_ENTRIES_MAX (1U << 24)

struct batch {
	const struct bpf_map *map;
	size_t key_size, value_size;
	uint32_t capacity;
	unsigned char *keys, *values;
};

static void batch_resize(struct batch *batch, uint32_t capacity)
{
	batch->capacity = capacity;
	batch->keys = memory_resize(batch->keys, capacity, batch->key_size);
	batch->values = memory_resize(batch->values, capacity, batch->value_size);
}

/* One batch from `*cursor` on, or from the start. Returns 0, -ENOENT after the last one, or another negative errno. */
static int batch_read(struct batch *batch, bool first, uint32_t *cursor, uint32_t *ret_count)
{
	int code;

	for (;;) {
		*ret_count = batch->capacity;
		code = bpf_map_lookup_batch(bpf_map__fd(batch->map), first ? NULL : cursor, cursor,
					    batch->keys, batch->values, ret_count, NULL);
		if (code != -ENOSPC || batch->capacity >= BATCH_ENTRIES_MAX)
			return code;
		batch_resize(batch, batch->capacity * 2);
	}
}

int map_read(const struct bpf_map *map,
	     void (*visit)(void *context, const void *key, const void *value), void *context)
{
	struct batch batch = { .map = map,
			       .key_size = bpf_map__key_size(map),
			       .value_size = bpf_map__value_size(map) };
	uint32_t cursor = 0, count, i;
	bool first = true;
	int code;

	batch_resize(&batch, BATCH_ENTRIES);
	do {
		code = batch_read(&batch, first, &cursor, &count);
		if (code && code != -ENOENT)
			break;
		for (i = 0; i < count; i++)
			visit(context, batch.keys + i * batch.key_size,
			      batch.values + i * batch.value_size);
		first = false;
	} while (!code);
	free(batch.keys);
	free(batch.values);
	return code == -ENOENT ? 0 : code;
}
