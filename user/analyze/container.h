/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kind of container a block is part of, by the functions that allocated it. */
#ifndef ANALYZE_CONTAINER_H
#define ANALYZE_CONTAINER_H

#include "analyze/judge.h"

/*
 * "a Ruby Array", "a std::vector": whose function is the innermost of the stack that is of a container. Between it and the allocator
 * are only functions of the same interpreter, of the C++ library, or those that allocate for others. NULL = none has a name
 * that is known. Asks for names.
 */
const char *container_of_stack(const struct stack *stack, struct judge *judge);

#endif
