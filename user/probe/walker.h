/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocators that walk the stack of their caller: sanitizers, and profilers of the heap. A return probe puts its trampoline in
 * the place of a return address. The walk ends there, so what it is for (suppressions by function name, stacks in a profile)
 * comes out differently. So nothing of these is probed by its return.
 */
#ifndef PROBE_WALKER_H
#define PROBE_WALKER_H

#include <stddef.h>

/* The name of the walker that a file is, or holds; a static string. NULL if it is none that is known. */
const char *walker_identify(int (*defines)(void *context, const char *symbol), void *context);

/* The symbols that are asked for, one by one; NULL behind the last. */
const char *walker_marker(size_t index);

/* The same for a file by its path alone; NULL is no path. */
const char *walker_of_path(const char *path);

/*
 * The same for what an environment asks of an allocator: `size` bytes of NAME=VALUE, each ended by a zero. A profile of the heap
 * has a stack for each block.
 */
const char *walker_of_environment(const char *bytes, size_t size);

#endif
