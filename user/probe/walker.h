/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes allocators that walk their caller's stack: sanitizers, and heap profilers. A return
 * probe puts its trampoline in place of a return address, and the walk ends there, which breaks its
 * purpose (suppressions by function name, stacks in a profile). So their returns are not probed.
 */
#ifndef PROBE_WALKER_H
#define PROBE_WALKER_H

#include <stddef.h>

/* The name of the walker in a file; a static string. NULL = none known. */
const char *walker_identify(int (*defines)(void *context, const char *symbol), void *context);

/* The symbols to check, one by one; NULL after the last. */
const char *walker_marker(size_t index);

/* The same for a file by its path alone; NULL is no path. */
const char *walker_of_path(const char *path);

/*
 * The same for an allocator's environment: `size` bytes of NAME=VALUE, each NUL-terminated. A heap
 * profile needs a stack for each block.
 */
const char *walker_of_environment(const char *bytes, size_t size);

#endif
