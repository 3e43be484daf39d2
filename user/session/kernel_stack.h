/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the addresses of a stack of the kernel's to its frames: named, and without those of the tracing. Pure. */
#ifndef SESSION_KERNEL_STACK_H
#define SESSION_KERNEL_STACK_H

#include <linux/types.h>
#include <stdbool.h>

#include "model/name_pool.h"
#include "model/stack.h"
#include "system/kallsyms.h"
#include "tracer_abi.h"

/*
 * The frames of a record. The innermost ones, of the tracepoint, are left out; those of the allocator, which follow them, are internal.
 * Names are kept in `pool`: of a module's function "name [module]", of an address without a function "0xffffffffc0123456". Free with
 * stack_free.
 */
struct stack *kernel_stack_make(const struct stack_record *record, const struct kallsyms *symbols,
				struct name_pool *pool);

/* Of a stack on which pages were allocated: were they for the allocator of smaller blocks, in which these are counted? */
bool kernel_stack_is_for_blocks(const struct stack *stack);

/* A stack of one frame, which is the reason why there are no others. */
struct stack *kernel_stack_missing(void);

#endif
