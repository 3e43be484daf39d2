/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open addressing with linear probing and backward-shift deletion: see table.h. */
#include "base/table.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"

static size_t table_home(const struct table *table, uint64_t key)
{
	return hash_secret(table->seed, key) & (table->capacity - 1);
}

static size_t table_find(const struct table *table, uint64_t key)
{
	size_t at = table_home(table, key);

	while (table->slots[at].value && table->slots[at].key != key)
		at = (at + 1) & (table->capacity - 1);
	return at;
}

void *table_get(const struct table *table, uint64_t key)
{
	return table->capacity ? table->slots[table_find(table, key)].value : NULL;
}

static void table_grow(struct table *table)
{
	struct table old = *table;
	size_t i;

	if (!table->seed)
		table->seed = seed_new();
	table->capacity = old.capacity ? old.capacity * 2 : 16;
	table->slots = memory_alloc(table->capacity, sizeof(*table->slots));
	for (i = 0; i < old.capacity; i++)
		if (old.slots[i].value)
			table->slots[table_find(table, old.slots[i].key)] = old.slots[i];
	free(old.slots);
}

void table_put(struct table *table, uint64_t key, void *value)
{
	size_t at;

	if ((table->count + 1) * 4 > table->capacity * 3)
		table_grow(table);
	at = table_find(table, key);
	table->count += !table->slots[at].value;
	table->slots[at] = (struct table_slot){ key, value };
}

/* Close the hole at `hole`: move back every later slot of the run that may not stay behind it. */
static void table_close_hole(struct table *table, size_t hole)
{
	size_t mask = table->capacity - 1;
	size_t at = hole;

	for (;;) {
		at = (at + 1) & mask;
		if (!table->slots[at].value)
			break;
		if (((at - table_home(table, table->slots[at].key)) & mask) < ((at - hole) & mask))
			continue;
		table->slots[hole] = table->slots[at];
		hole = at;
	}
	table->slots[hole] = (struct table_slot){ 0 };
}

void *table_remove(struct table *table, uint64_t key)
{
	void *value;
	size_t at;

	if (!table->capacity)
		return NULL;
	at = table_find(table, key);
	value = table->slots[at].value;
	if (!value)
		return NULL;
	table->count--;
	table_close_hole(table, at);
	return value;
}

const struct table_slot *table_next(const struct table *table, size_t *cursor)
{
	while (*cursor < table->capacity) {
		const struct table_slot *slot = &table->slots[(*cursor)++];

		if (slot->value)
			return slot;
	}
	return NULL;
}

void table_free(struct table *table)
{
	free(table->slots);
	*table = (struct table){ 0 };
}
