/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that processes have generated at run time, from the maps that their JIT compilers write
 * (/tmp/perf-PID.map, with the pid and in the root that the process has itself). A map must belong to the user that the
 * process runs as, or to root.
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

/* Where the names are, for whoever holds them longer. */
struct name_pool *jit_names_pool(const struct jit_names *names);

/* Name the generated code in a stack of `target`, which runs. Code without a line in its map stays without a name. */
void jit_names_fill(struct jit_names *names, const struct target *target, struct stack *stack);

/* The target will be freed. */
void jit_names_drop(struct jit_names *names, const struct target *target);

#endif
