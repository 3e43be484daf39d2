/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resolves names that Ruby stores as numbers: of constants, variables and symbols. Their tables are
 * in the interpreter's static data, without symbols, and are found by their shape.
 */
#ifndef RUBY_RUBY_ID_H
#define RUBY_RUBY_ID_H

#include "ruby/ruby_graph.h"
#include "ruby/ruby_shape.h"

struct ruby_ids {
	const struct ruby_graph *graph;
	uint64_t strings; /* array of arrays of names; 0 = not found */
	uint64_t last; /* serial number */
	struct ruby_shapes shapes; /* {0} = not found, or a version without shapes */
	uint64_t globals; /* table of global variables; 0 = not found */
};

void ruby_id_find(const struct ruby_graph *graph, struct ruby_ids *ret_ids);

/* The name of a number, or of its serial; "" if there is none. Returns its length. */
size_t ruby_id_name(const struct ruby_ids *ids, uint64_t id, char *ret_name, size_t size);
size_t ruby_id_serial_name(const struct ruby_ids *ids, uint64_t serial, char *ret_name,
			   size_t size);

/* The name of the instance variable at a position of an object or class. */
size_t ruby_id_variable(const struct ruby_ids *ids, const struct ruby_slot *object, uint64_t index,
			char *ret_name, size_t size);

/*
 * Call `entry` with the serial number and value of each entry of an rb_id_table, at most `max`,
 * until it returns false. False if there is no table.
 */
bool ruby_id_walk(struct image *image, uint64_t table, uint64_t max,
		  bool (*entry)(void *context, uint64_t serial, uint64_t value), void *context);

#endif
