/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds objects: the shortest way to each from what is never collected. From the constants first, then from global variables, the
 * interpreter's tables of names and of literals, threads, and the virtual machine; then from weak maps; for what none of them reaches, all other memory of
 * the process is searched, word by word.
 */
#ifndef OBJECTS_RUBY_HOLDERS_H
#define OBJECTS_RUBY_HOLDERS_H

#include "base/table.h"
#include "objects/ruby_graph.h"
#include "objects/ruby_id.h"

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
	uint32_t *parents; /* owned; by number: 0 = not reached, itself = a root */
	uint32_t *queue; /* owned: numbers, in the order in which they were reached */
	uint32_t reached, looked; /* of the queue */
	bool with_threads; /* what only threads refer to is followed, too; may be stale */
	uint32_t *weak; /* owned: weak maps that were reached */
	size_t weak_count, weak_capacity;
	size_t weak_done; /* of them were followed */
	struct table roots; /* number -> position + 1 */
	struct ruby_root *items; /* owned */
	size_t count, capacity;
};

/* Follow everything; fills in what the graph has not yet. `max_bytes`: of other memory that is looked at; 0 = only what is certain. */
void ruby_holders_find(struct ruby_graph *graph, uint64_t max_bytes,
		       struct ruby_holders *ret_holders);
void ruby_holders_free(struct ruby_holders *holders);

#endif
