/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of addresses that remembers which of them were asked for: blocks in caches, which are free, though their heap has them in use. */
#ifndef HEAP_ADDRESS_SET_H
#define HEAP_ADDRESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_slot {
	uint64_t address; /* 0 = the slot is empty */
	bool taken;
};

/* {0} is an empty set. */
struct address_set {
	struct address_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count, taken;
	uint64_t seed;
};

/* False if it was in the set, or is 0. */
bool address_set_add(struct address_set *set, uint64_t address);
/* Is it in the set? The first time it is, it counts as taken. */
bool address_set_take(struct address_set *set, uint64_t address);
/* Is it in the set? */
bool address_set_has(const struct address_set *set, uint64_t address);
void address_set_free(struct address_set *set);

#endif
