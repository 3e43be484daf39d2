/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A captured stack whose frames have been normalized to (module, file offset). */
#ifndef MODEL_STACK_H
#define MODEL_STACK_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp_abi.h"

/*
 * An interpreter's name of a frame: untrusted bytes, terminated; NULL = unknown. Within a snapshot
 * equal names have one address (name_pool.h).
 */
struct frame_name {
	const char *function;
	const char *file;
	uint32_t line; /* 0 = unknown */
};

/* FRAME_RUBY and so on are frames of that interpreter's code. */
enum frame_kind {
	FRAME_NATIVE = INTERP_NONE,
	FRAME_JIT = INTERP_KINDS,
	FRAME_KERNEL,
	FRAME_ERROR, /* why the walk stopped early; always outermost, except for FRAME_THREAD */
	FRAME_THREAD, /* thread name; outermost frame where sites are separated by thread */
#define FRAME_ENUMERATOR(NAME, word, title) FRAME_##NAME = INTERP_##NAME,
	INTERP_LIST(FRAME_ENUMERATOR)
#undef FRAME_ENUMERATOR
};

static inline bool frame_is_interpreted(enum frame_kind kind)
{
	return kind > FRAME_NATIVE && kind < FRAME_JIT;
}

struct frame {
	enum frame_kind kind;
	uint32_t module; /* index in the run's module list, or MODULE_NONE */
	uint64_t address; /* as captured: a return address, so the call is at address - 1 */
	uint64_t offset; /* of `address` in the module's file; 0 without a module */
	const char *reason; /* FRAME_ERROR only: a static string */
	const struct frame_name *name; /* for interpreted and generated code; NULL = unknown */
	bool whole; /* its entire module, or the entire function `name`; no line */
	bool internal; /* an interpreter's own function, beside its interpreted frames */
};

/* Innermost first. One allocation. Immutable once shared. */
struct stack {
	uint32_t count;
	uint32_t shares; /* references beyond the first */
	struct frame frames[];
};

/* Take a reference. Returns `stack`. */
struct stack *stack_share(struct stack *stack);
/* Drop a reference; the last one frees it. Accepts NULL. */
void stack_free(struct stack *stack);

#endif
