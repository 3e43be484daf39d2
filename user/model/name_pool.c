/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See name_pool.h. */
#include "model/name_pool.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"
#include "base/strings.h"

struct kept_name {
	struct frame_name name;
	struct kept_name *next; /* with the same hash */
};

struct name_pool {
	size_t holders;
	uint64_t seed; /* of the hashes */
	struct strings texts;
	struct table names; /* struct kept_name by hash */
};

struct name_pool *name_pool_new(void)
{
	struct name_pool *pool = memory_alloc(1, sizeof(*pool));

	pool->holders = 1;
	pool->seed = seed_new();
	return pool;
}

struct name_pool *name_pool_share(struct name_pool *pool)
{
	pool->holders++;
	return pool;
}

const struct frame_name *name_pool_keep(struct name_pool *pool, const struct frame_name *name)
{
	const struct frame_name own = { .function = strings_keep(&pool->texts, name->function),
					.file = strings_keep(&pool->texts, name->file),
					.line = name->line };
	uint64_t hash =
		hash_word(hash_word(pool->seed, (uintptr_t)own.function), (uintptr_t)own.file);
	struct kept_name *first, *kept;

	hash = hash_word(hash, own.line);
	first = table_get(&pool->names, hash);
	for (kept = first; kept; kept = kept->next)
		if (kept->name.function == own.function && kept->name.file == own.file &&
		    kept->name.line == own.line)
			return &kept->name;
	kept = memory_alloc(1, sizeof(*kept));
	*kept = (struct kept_name){ .name = own, .next = first };
	table_put(&pool->names, hash, kept);
	return &kept->name;
}

void name_pool_free(struct name_pool *pool)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	if (!pool || --pool->holders)
		return;
	while ((slot = table_next(&pool->names, &cursor))) {
		struct kept_name *kept = slot->value, *next;

		for (; kept; kept = next) {
			next = kept->next;
			free(kept);
		}
	}
	table_free(&pool->names);
	strings_free(&pool->texts);
	free(pool);
}
