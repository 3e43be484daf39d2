/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves a frame of Ruby code to method, path and line. */
#ifndef RUBY_RUBY_NAME_H
#define RUBY_RUBY_NAME_H

#include "interp/interp_name.h"
#include "ruby/ruby_frames.h"

/*
 * Name the frame of the iseq at `code` whose next instruction is at `at`: method or block as Ruby's backtraces label it,
 * path as they give it, line. False, with `*ret_name` in an undefined state, if there is no such iseq (any more).
 */
bool ruby_name_frame(const struct ruby_release *layout, const struct target_memory *memory,
		     uint64_t code, uint64_t at, struct interp_name *ret_name);

/* The same by what was copied of it (see interp_copy.h); the next instruction is `offset` bytes from the first one. */
bool ruby_name_copy(const struct ruby_release *layout, const struct target_memory *memory,
		    const struct interp_code *code, uint64_t offset, struct interp_name *ret_name);

/* A key that changes when another iseq is at `code`; 0 if unreadable. */
uint64_t ruby_name_key(const struct target_memory *memory, uint64_t code);

#endif
