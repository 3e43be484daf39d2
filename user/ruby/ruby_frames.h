/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruby's frames: finding them in a file and in a live process, and the checks that a release's row
 * must pass there.
 */
#ifndef RUBY_RUBY_FRAMES_H
#define RUBY_RUBY_FRAMES_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp_abi.h"
#include "interp/target_memory.h"
#include "ruby/ruby_release.h"

struct frames_ops;
extern const struct frames_ops ruby_ops;

/*
 * Does `state` lead to the frames of the thread whose pthread_self is `identity`: is it that
 * thread's execution context (or, with `by_thread`, its thread)? False with a wrong layout.
 */
bool ruby_frames_is_state(const struct ruby_release *layout, const struct target_memory *memory,
			  uint64_t state, uint64_t identity);

/*
 * Are the frames of such a `state` consistent: is each of them, from the outermost to the last but
 * one, either no Ruby code, or Ruby code with its current instruction in it and a path? At least
 * one must be Ruby code. May be wrongly false while the thread runs.
 */
bool ruby_frames_check(const struct ruby_release *layout, const struct target_memory *memory,
		       uint64_t state);

/*
 * An address in the function that runs Ruby code, which need not have a symbol: the handler of the
 * first instruction of a frame's code. 0 = no frame of Ruby code shows it.
 */
uint64_t ruby_frames_handler(const struct ruby_release *layout, const struct target_memory *memory,
			     uint64_t state);

#endif
