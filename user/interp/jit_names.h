/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code generated at run time, from the maps that JIT compilers write (/tmp/perf-PID.map,
 * in the process's own pid and mount namespaces). A map must belong to the user that the process
 * runs as, or to root.
 */
#ifndef INTERP_JIT_NAMES_H
#define INTERP_JIT_NAMES_H

#include <stdint.h>

#include "base/log.h"
#include "model/stack.h"
#include "model/target.h"

struct jit_names;

/* `log` must live as long. Free with jit_names_free; names live as long. */
struct jit_names *jit_names_new(const struct log *log);
void jit_names_free(struct jit_names *names);

/* The pool of the names, to hold them longer. */
struct name_pool *jit_names_pool(const struct jit_names *names);

/*
 * Name the generated code in a stack of a running `target`. Code that is not in its map stays
 * unnamed.
 */
void jit_names_fill(struct jit_names *names, const struct target *target, struct stack *stack);

/* The target is about to be freed. */
void jit_names_drop(struct jit_names *names, const struct target *target);

#endif
