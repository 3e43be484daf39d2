/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The transient heap of Ruby 2.7 to 3.2: one range for elements of young arrays, hashes and structs. */
#ifndef RUBY_RUBY_TRANSIENT_H
#define RUBY_RUBY_TRANSIENT_H

#include "ruby/ruby_heap.h"

#define RUBY_TRANSIENT_SIZE (32ull << 20)

/* Its start; 0 = none. Found by the shape of its description in the interpreter's static data. */
uint64_t ruby_transient_find(const struct ruby_heap *heap);

#endif
