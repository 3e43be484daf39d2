/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols that the modules of a process export, by what the loader has mapped of them: program headers, dynamic section, hash table.
 * No file is opened, so it does not matter whether the file is in another root, deleted or replaced.
 */
#ifndef OBJECTS_EXPORTS_H
#define OBJECTS_EXPORTS_H

#include <stdint.h>

#include "heap/image.h"

/* Longer names are not found. */
#define EXPORTS_NAME_MAX 63

/*
 * The address in the process of the first symbol `name`, in the order of addresses of the modules; 0 = none exports it, or what would lead
 * to it is not in memory. A few reads for each module.
 */
uint64_t exports_find(struct image *image, const char *name);

#endif
