/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What weak maps of Ruby (ObjectSpace::WeakMap, WeakKeyMap) refer to, which does not keep it from being collected. */
#ifndef OBJECTS_RUBY_WEAK_H
#define OBJECTS_RUBY_WEAK_H

#include "objects/ruby_graph.h"

/* Is it a weak map? */
bool ruby_weak_is_map(const struct ruby_graph *graph, const struct ruby_slot *slot);

/* Call for each object that a weak map has as a key or as a value, until it returns false. */
void ruby_weak_walk(const struct ruby_graph *graph, const struct ruby_slot *slot,
		    bool (*object)(void *context, uint64_t address), void *context);

#endif
