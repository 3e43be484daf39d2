/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Enumerates the references of a Ruby object, and where they are stored in it. */
#ifndef RUBY_RUBY_EDGES_H
#define RUBY_RUBY_EDGES_H

#include "ruby/ruby_graph.h"

enum ruby_edge_kind {
	RUBY_EDGE_ELEMENT, /* of an array; `key`: its index */
	RUBY_EDGE_VALUE, /* of a hash; `key`: its key, a value of Ruby */
	RUBY_EDGE_KEY, /* a hash's key itself */
	RUBY_EDGE_DEFAULT, /* of a hash */
	RUBY_EDGE_VARIABLE, /* of an object or, since 3.2, of a class; `key`: its position */
	RUBY_EDGE_CLASS_VARIABLE, /* up to 3.1; `key`: its ID */
	RUBY_EDGE_MEMBER, /* of a struct; `key`: its index */
	RUBY_EDGE_CONSTANT, /* `key`: the serial of its ID */
	RUBY_EDGE_METHOD, /* `key`: the serial of its ID */
	RUBY_EDGE_CLASS, /* an object's class, or the class above a class */
	RUBY_EDGE_LOCAL, /* a local variable that code refers to */
	RUBY_EDGE_WEAK, /* of a weak map, which does not keep it */
	RUBY_EDGE_WORD, /* some word of it; `key`: where */
};

struct ruby_edge {
	enum ruby_edge_kind kind;
	uint32_t target; /* number of the object that is referred to */
	uint64_t key;
};

/* Returns false to end the walk. */
typedef bool (*ruby_edge_function)(void *context, const struct ruby_edge *edge);

/*
 * Call for each object that object `number` refers to; at most RUBY_EDGES_MAX, for large ones. The
 * order is unspecified. References of an extension's objects are guessed: any word of its blocks
 * that equals the address of an object.
 */
#define RUBY_EDGES_MAX (1u << 24)
void ruby_edges_walk(const struct ruby_graph *graph, uint32_t number, ruby_edge_function function,
		     void *context);

/* Call for each object whose address is in a malloc block, or in blocks that it points to. */
void ruby_edges_walk_block(const struct ruby_graph *graph, uint64_t address, int depth,
			   ruby_edge_function function, void *context);

/* Is it the object of a thread? */
bool ruby_edges_is_thread(const struct ruby_graph *graph, const struct ruby_slot *slot);

#endif
