/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of addresses that tracks which of them were looked up: blocks in caches, which are free
 * although their heap counts them as in use.
 */
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

/* Add an address. False if it was in the set already, or is 0. */
bool address_set_add(struct address_set *set, uint64_t address);
/* Is it in the set? Counts it as taken the first time. */
bool address_set_take(struct address_set *set, uint64_t address);
/* Is it in the set? */
bool address_set_has(const struct address_set *set, uint64_t address);
void address_set_free(struct address_set *set);

#endif
