/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layout of Ruby's structures by version: 2.6 to 4.0 on 64-bit machines. All releases of a minor
 * version agree; builds with debugging options do not, so a layout must pass its check on the live
 * process before use.
 */
#ifndef INTERP_RUBY_LAYOUT_H
#define INTERP_RUBY_LAYOUT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp_abi.h"
#include "interp/target_memory.h"

/* Offsets in bytes. */
struct ruby_layout {
	unsigned int major, minor;
	uint16_t frame_size; /* of a control frame */
	bool by_thread; /* threads are found by their thread structure, not by their execution context */
	uint16_t context_thread; /* execution context: its thread */
	uint16_t thread_context; /* thread: its execution context */
	/* Thread: the native thread, which has the identity; 0 = the thread itself has it. */
	uint16_t thread_native;
	uint16_t identity; /* there: pthread_t */
	uint16_t lines, line_count, line_index; /* iseq body: table of instructions' lines */
	uint16_t line_size; /* of an entry of that table */
	/* Iseq body: the iseq around it, then the method's; 0 = labels are complete. */
	uint16_t parent;
	bool wide_strings; /* strings have their length in a field, embedded ones too */
};

struct interp_ops;
extern const struct interp_ops ruby_ops;

/* The layout of a version such as "3.1.2"; NULL if it is unknown. */
const struct ruby_layout *ruby_layout_find(const char *version);

/*
 * Does `state` lead to the frames of the thread whose pthread_self is `identity`: is it that
 * thread's execution context (or, with `by_thread`, its thread)? False with a wrong layout.
 */
bool ruby_layout_is_state(const struct ruby_layout *layout, const struct target_memory *memory,
			  uint64_t state, uint64_t identity);

/*
 * Are the frames of such a `state` consistent: is each of them, from the outermost to the last but
 * one, either no Ruby code, or Ruby code with its current instruction in it and a path? At least
 * one must be Ruby code. May be wrongly false while the thread runs.
 */
bool ruby_layout_check(const struct ruby_layout *layout, const struct target_memory *memory,
		       uint64_t state);

/*
 * An address in the function that runs Ruby code, which need not have a symbol: the handler of the
 * first instruction of a frame's code. 0 = no frame of Ruby code shows it.
 */
uint64_t ruby_layout_handler(const struct ruby_layout *layout, const struct target_memory *memory,
			     uint64_t state);

#endif
