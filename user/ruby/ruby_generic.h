/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds instance variables of strings, arrays, native objects and the like. They are in a table in
 * the interpreter's static data, which has no symbol, and is found by its shape.
 */
#ifndef RUBY_RUBY_GENERIC_H
#define RUBY_RUBY_GENERIC_H

#include "ruby/ruby_graph.h"

#define RUBY_GENERIC_VALUES 8 /* offset of the values, behind their count */

/* Fill a table: address of an object -> address of its variables. */
void ruby_generic_find(const struct ruby_graph *graph, struct table *ret_generic);

/* Number of variables at the address; 0 = none, or implausible. */
uint64_t ruby_generic_count(const struct ruby_graph *graph, uint64_t address);

#endif
