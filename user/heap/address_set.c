/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing. The addresses are a target's choice: where they are kept depends on a secret of each set.
 */
#include "heap/address_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"

#define SMALLEST 256

/* The slot of `address`, or the empty one where it belongs. */
static struct address_slot *address_set_slot(const struct address_set *set, uint64_t address)
{
	size_t i = hash_secret(set->seed, address) & (set->capacity - 1);

	while (set->slots[i].address && set->slots[i].address != address)
		i = (i + 1) & (set->capacity - 1);
	return &set->slots[i];
}

static void address_set_grow(struct address_set *set)
{
	struct address_set old = *set;
	size_t i;

	set->capacity = old.capacity ? 2 * old.capacity : SMALLEST;
	set->slots = memory_alloc(set->capacity, sizeof(*set->slots));
	if (!old.capacity)
		set->seed = seed_new();
	for (i = 0; i < old.capacity; i++)
		if (old.slots[i].address)
			*address_set_slot(set, old.slots[i].address) = old.slots[i];
	free(old.slots);
}

bool address_set_add(struct address_set *set, uint64_t address)
{
	struct address_slot *slot;

	if (!address)
		return false;
	if (2 * set->count >= set->capacity)
		address_set_grow(set);
	slot = address_set_slot(set, address);
	if (slot->address)
		return false;
	slot->address = address;
	set->count++;
	return true;
}

bool address_set_has(const struct address_set *set, uint64_t address)
{
	return set->count && address && address_set_slot(set, address)->address;
}

bool address_set_take(struct address_set *set, uint64_t address)
{
	struct address_slot *slot;

	if (!address_set_has(set, address))
		return false;
	slot = address_set_slot(set, address);
	set->taken += !slot->taken;
	slot->taken = true;
	return true;
}

void address_set_free(struct address_set *set)
{
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
