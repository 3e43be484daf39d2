/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy of Ruby's heap with numbered objects, to follow references. */
#ifndef RUBY_RUBY_GRAPH_H
#define RUBY_RUBY_GRAPH_H

#include "ruby/ruby_class.h"
#include "ruby/ruby_heap.h"

/* Numbers begin with 1; 0 is no object. */
struct ruby_graph {
	struct ruby_heap *heap;
	struct ruby_names *names;
	struct ruby_graph_page *pages; /* owned; in order of address and number */
	size_t page_count;
	unsigned char *bytes; /* owned: of all pages */
	struct table by_body; /* address of the page -> position + 1 */
	uint32_t count; /* of slots: the greatest number */
	unsigned char *states; /* owned: enum ruby_state of each number */
	size_t state_capacity;
	bool has_generic; /* there are objects with ruby_slots_has_generic */
	struct table generic; /* see ruby_generic.h; {0} before ruby_holders_find */
	struct ruby_graph_block *blocks; /* owned: cache of other memory */
};

/* Copy the listed pages. False if they exceed `max_bytes`, or none could be read. */
bool ruby_graph_load(struct ruby_graph *graph, struct ruby_heap *heap, struct ruby_names *names,
		     uint64_t max_bytes);
void ruby_graph_free(struct ruby_graph *graph);

/* The number of the object at the address; 0 = none, or garbage. */
uint32_t ruby_graph_number(const struct ruby_graph *graph, uint64_t address);
/* Read other memory, possibly from the cache; returns the number of bytes read. */
size_t ruby_graph_read(const struct ruby_graph *graph, uint64_t address, void *bytes, size_t size);
/* A word of it; 0 where it cannot be read. */
uint64_t ruby_graph_word(const struct ruby_graph *graph, uint64_t address);

/* The object with a number; may have any state except missing. */
void ruby_graph_slot(const struct ruby_graph *graph, uint32_t number, struct ruby_slot *ret_slot);

#endif
