/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The place of Ruby's own counter of full marks: in its object space. */
#ifndef RUBY_RUBY_GC_COUNTER_H
#define RUBY_RUBY_GC_COUNTER_H

#include <stdbool.h>

struct gc_counter;
struct interpreter;
struct target_memory;

/* See has_gc_counter and find_gc_counter of struct frames_ops. */
bool ruby_gc_counter_is_known(const struct interpreter *interpreter);
bool ruby_gc_counter_find(const struct interpreter *interpreter, const struct target_memory *memory,
			  struct gc_counter *ret_counter);

#endif
