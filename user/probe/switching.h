/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which programs may leave a thread's stack for another one: by handlers on alternate stacks, or by fibers. There a pending
 * call may be forgotten by the kernel whose return is probed, where an entry cannot decline its return probe.
 */
#ifndef PROBE_SWITCHING_H
#define PROBE_SWITCHING_H

#include <stdbool.h>
#include <stddef.h>

#include "system/elf_file.h"

/*
 * The number, from 1 on, of a function that sets up or takes another stack, and that the file calls or has linked in. 0 = none is
 * known of. Files that offer such functions to others, as a C library does, are not meant.
 */
size_t switching_find(struct elf_file *file);

/* The name of the function of this number; a static string, NULL = there is none. */
const char *switching_name(size_t number);

/* Is the file of this path known to run none of its code on another stack while it may be in a call of an allocator? */
bool switching_is_harmless(const char *path);

#endif
