/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the stack of a process that runs an interpreter: native frames, and the interpreter's with
 * names.
 */
#ifndef INTERP_STACK_H
#define INTERP_STACK_H

#include <linux/types.h>
#include <stdint.h>

#include "frames/frame_names.h"
#include "frames/interpreter.h"
#include "model/module.h"
#include "model/stack.h"
#include "model/target.h"

/* A process with its interpreter. */
struct interp_stack_source {
	const struct module_list *modules;
	const struct target *target;
	const struct interpreter *interpreter;
	uint32_t module; /* containing the interpreter */
	struct target_memory memory;
	struct frame_names *names;
	struct known_frames *known; /* its frames */
	/* The copy of code with this content, until the next call; NULL if there is none. */
	const struct interp_code *(*find_copy)(void *context, uint64_t content);
	void *context;
};

/*
 * Merge the interpreter frames of `record` into a stack with resolved native frames. Takes
 * ownership of `stack` and returns its replacement, with names that live as long as
 * `source->names`.
 */
struct stack *interp_stack_merge(const struct interp_stack_source *source, struct stack *stack,
				 const struct interp_record *record);

#endif
