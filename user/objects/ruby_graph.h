/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of Ruby's heap, in which objects have numbers, to follow what refers to what. */
#ifndef OBJECTS_RUBY_GRAPH_H
#define OBJECTS_RUBY_GRAPH_H

#include "objects/ruby_class.h"
#include "objects/ruby_heap.h"

/* Numbers begin with 1; 0 is no object. */
struct ruby_graph {
	struct ruby_heap *heap;
	struct ruby_names *names;
	struct ruby_graph_page *pages; /* owned; in the order of addresses and of numbers */
	size_t page_count;
	unsigned char *bytes; /* owned: of all pages */
	struct table by_body; /* address of the page -> position + 1 */
	uint32_t count; /* of slots: the greatest number */
	unsigned char *states; /* owned: enum ruby_state of each number */
	size_t state_capacity;
	bool has_generic; /* objects that ruby_slots_has_generic is true of */
	struct table generic; /* see ruby_generic.h; {0} before ruby_holders_find */
	struct ruby_graph_block *blocks; /* owned: of other memory, what was read last */
};

/* Copy the pages that are listed. False if they are more than `max_bytes`, or none could be read. */
bool ruby_graph_load(struct ruby_graph *graph, struct ruby_heap *heap, struct ruby_names *names,
		     uint64_t max_bytes);
void ruby_graph_free(struct ruby_graph *graph);

/* The number of the object that begins at the address; 0 = none does, or it is garbage. */
uint32_t ruby_graph_number(const struct ruby_graph *graph, uint64_t address);
/* Other memory, as it was when it was first read of late: as many bytes as there are. */
size_t ruby_graph_read(const struct ruby_graph *graph, uint64_t address, void *bytes, size_t size);
/* A word of it; 0 where it cannot be read. */
uint64_t ruby_graph_word(const struct ruby_graph *graph, uint64_t address);

/* The object of a number, in any state but missing. */
void ruby_graph_slot(const struct ruby_graph *graph, uint32_t number, struct ruby_slot *ret_slot);

#endif
