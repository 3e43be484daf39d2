/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects programs that may switch stacks: by handlers on alternate stacks, or by fibers. There the
 * kernel may forget a pending call whose return is probed, unless an entry can decline its return
 * probe.
 */
#ifndef PROBE_SWITCHING_H
#define PROBE_SWITCHING_H

#include <stdbool.h>
#include <stddef.h>

#include "elf/elf_file.h"

/*
 * The number, from 1, of a function that sets up or switches stacks and that the file calls or has
 * linked in. 0 = none known. Files that offer such functions to others, such as a C library, do not
 * count.
 */
size_t switching_find(struct elf_file *file);

/* The name of the function of this number; a static string, NULL = there is none. */
const char *switching_name(size_t number);

/*
 * Is the file at this path known never to run its code on another stack during an allocator call?
 */
bool switching_is_harmless(const char *path);

#endif
