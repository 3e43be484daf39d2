/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves a call of a PHP function to function, file and line. */
#ifndef PHP_PHP_NAME_H
#define PHP_PHP_NAME_H

#include "interp/interp_name.h"
#include "php/php_layout.h"

/*
 * Name a frame: "function" or "Class::method", and file and line as a backtrace gives them; code outside of functions is
 * "{main}", "include" or "eval". Internal functions have no file. False, with `*ret_name` in an undefined state, if there is
 * no such function.
 */
bool php_name_frame(const struct php_layout *layout, const struct target_memory *memory,
		    const struct interp_frame *frame, struct interp_name *ret_name);

/* The same by what was copied of the function; see interp_copy.h. */
bool php_name_copy(const struct php_layout *layout, const struct target_memory *memory,
		   const struct interp_frame *frame, const struct interp_code *code,
		   struct interp_name *ret_name);

/* A key that changes when another function is at `function`; 0 if unreadable. */
uint64_t php_name_key(const struct php_layout *layout, const struct target_memory *memory,
		      uint64_t function);

#endif
