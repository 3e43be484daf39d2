/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves a frame of Python code to function, file and line. */
#ifndef PYTHON_PYTHON_NAME_H
#define PYTHON_PYTHON_NAME_H

#include "interp/interp_name.h"
#include "python/python_layout.h"

/*
 * Name the frame of the code object at `code`, at an instruction `at` bytes from the first: qualified name (plain name
 * up to 3.10), file and line as a traceback gives them. The line is 0 if it cannot be found out any more. False, with
 * `*ret_name` in an undefined state, if there is no such code object.
 */
bool python_name_frame(const struct python_layout *layout, const struct target_memory *memory,
		       uint64_t code, int64_t at, struct interp_name *ret_name);

/* The same by what was copied of the code object; see interp_copy.h. */
bool python_name_copy(const struct python_layout *layout, const struct target_memory *memory,
		      const struct interp_code *code, int64_t at, struct interp_name *ret_name);

/* A key that changes when another code object is at `code`; 0 if unreadable. */
uint64_t python_name_key(const struct python_layout *layout, const struct target_memory *memory,
			 uint64_t code);

#endif
