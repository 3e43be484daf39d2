/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instance variables of what is no plain object: strings, arrays, native objects. They are in a table of the interpreter's, which is in its
 * static data, has no symbol, and is found by its form.
 */
#ifndef OBJECTS_RUBY_GENERIC_H
#define OBJECTS_RUBY_GENERIC_H

#include "objects/ruby_graph.h"

#define RUBY_GENERIC_VALUES 8 /* where the values begin, behind their number */

/* Fill a table: address of an object -> address of its variables. */
void ruby_generic_find(const struct ruby_graph *graph, struct table *ret_generic);

/* How many variables are at the address; 0 = none, or more than makes sense. */
uint64_t ruby_generic_count(const struct ruby_graph *graph, uint64_t address);

#endif
