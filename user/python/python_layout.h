/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's frames in a process: their layout, by the row of its release and in 3.13 by the table
 * that the interpreter itself contains. A layout must pass its check on the live process before
 * use.
 */
#ifndef PYTHON_PYTHON_LAYOUT_H
#define PYTHON_PYTHON_LAYOUT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp/frames_ops.h"
#include "interp_abi.h"
#include "python/python_lines.h"

/* Offsets in bytes. */
struct python_layout {
	unsigned int minor; /* of version 3 */
	struct interp_python walk;
	uint32_t identity; /* thread state: pthread_t */
	enum python_lines lines;
	uint64_t code_type; /* address of PyCode_Type in the process, set by the caller */
};

#define PYTHON_TYPE 8 /* object: its type */

extern const struct frames_ops python_ops;

/* Keep the layout of a process in its interpreter, and return it. */
static inline void python_layout_keep(struct interpreter *interpreter,
				      const struct python_layout *layout)
{
	_Static_assert(sizeof(*layout) <= INTERPRETER_OWN_MAX, "room for the layout");
	interpreter_put_own(interpreter, layout, sizeof(*layout));
}

static inline struct python_layout python_layout_of(const struct interpreter *interpreter)
{
	struct python_layout layout;

	interpreter_get_own(interpreter, &layout, sizeof(layout));
	return layout;
}

/* Bytes of _PyRuntime that python_layout_read needs. */
#define PYTHON_OFFSETS_SIZE 584

/* The layout of version 3.`minor`. False if it is unknown or the process must be asked (3.13). */
bool python_layout_find(unsigned int minor, struct python_layout *ret_layout);

/*
 * The layout that the first bytes of _PyRuntime describe. False if they do not, or describe one that BPF programs cannot
 * follow (a version after 3.13, or without a global lock).
 */
bool python_layout_read(const uint8_t bytes[PYTHON_OFFSETS_SIZE], struct python_layout *ret_layout);

/*
 * Is the thread state of the thread whose pthread_self is `identity` at `state`? False with a wrong
 * layout.
 */
bool python_layout_is_state(const struct python_layout *layout, const struct target_memory *memory,
			    uint64_t state, uint64_t identity);

/*
 * Are the frames of a thread state consistent: does each have a code object with names? There must
 * be at least one. May be wrongly false while the thread runs.
 */
bool python_layout_check(const struct python_layout *layout, const struct target_memory *memory,
			 uint64_t state);

#endif
