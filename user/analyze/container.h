/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names the container that a block belongs to, from the functions that allocated it. */
#ifndef ANALYZE_CONTAINER_H
#define ANALYZE_CONTAINER_H

#include "analyze/judge.h"

/*
 * "a Ruby Array", "a std::vector": from the innermost function of a known container. Between it and
 * the allocator there may only be functions of the same interpreter, of the C++ library, or
 * allocating on behalf of others. NULL = none is recognized. Requests names.
 */
const char *container_of_stack(const struct stack *stack, struct judge *judge);

#endif
