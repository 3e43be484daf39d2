/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The references of Ruby's weak maps (ObjectSpace::WeakMap, WeakKeyMap), which do not keep objects
 * alive.
 */
#ifndef RUBY_RUBY_WEAK_H
#define RUBY_RUBY_WEAK_H

#include "ruby/ruby_graph.h"

/* Is it a weak map? */
bool ruby_weak_is_map(const struct ruby_graph *graph, const struct ruby_slot *slot);

/* Call for each key and value of a weak map that is an object, until it returns false. */
void ruby_weak_walk(const struct ruby_graph *graph, const struct ruby_slot *slot,
		    bool (*object)(void *context, uint64_t address), void *context);

#endif
