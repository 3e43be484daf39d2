/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds holders of objects: the shortest path to each from a root, something that is never
 * collected. Roots in this order: constants, global variables, the interpreter's tables of names
 * and literals, threads, the virtual machine, weak maps; for objects that none of these reaches,
 * all other memory is searched word by word.
 */
#ifndef RUBY_RUBY_HOLDERS_H
#define RUBY_RUBY_HOLDERS_H

#include "base/table.h"
#include "ruby/ruby_graph.h"
#include "ruby/ruby_id.h"

enum ruby_root_kind {
	RUBY_ROOT_CONSTANTS, /* the class Object */
	RUBY_ROOT_GLOBAL, /* `key`: the serial of its ID */
	RUBY_ROOT_SYMBOLS, /* the table of names, which is never collected */
	RUBY_ROOT_LITERALS, /* the table of frozen strings; code holds them */
	RUBY_ROOT_THREAD,
	RUBY_ROOT_MACHINE, /* a word of the virtual machine */
	RUBY_ROOT_WORD, /* `key`: the address of the word, which may be stale */
};

struct ruby_root {
	enum ruby_root_kind kind;
	uint64_t key;
};

struct ruby_holders {
	const struct ruby_graph *graph;
	struct ruby_ids ids;
	uint32_t *parents; /* owned; by number: 0 = unreached, itself = a root */
	uint32_t *queue; /* owned: numbers in order of discovery */
	uint32_t reached, looked; /* positions in the queue */
	bool with_threads; /* also follow what only threads refer to; may be stale */
	uint32_t *weak; /* owned: weak maps reached */
	size_t weak_count, weak_capacity;
	size_t weak_done; /* number of them followed */
	struct table roots; /* number -> position + 1 */
	struct ruby_root *items; /* owned */
	size_t count, capacity;
};

/*
 * Follow all references; completes the graph. `max_bytes`: limit of other memory to search; 0 =
 * certain references only.
 */
void ruby_holders_find(struct ruby_graph *graph, uint64_t max_bytes,
		       struct ruby_holders *ret_holders);
void ruby_holders_free(struct ruby_holders *holders);

#endif
