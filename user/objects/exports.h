/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds symbols that the modules of a process export, through what the loader has mapped: program
 * headers, dynamic section, hash table. Opens no file, so it works for files in another root,
 * deleted or replaced.
 */
#ifndef OBJECTS_EXPORTS_H
#define OBJECTS_EXPORTS_H

#include <stdint.h>

#include "image/image.h"

/* Longer names are not found. */
#define EXPORTS_NAME_MAX 63

/*
 * The address of the first symbol `name`, in address order of the modules; 0 = not exported, or the
 * tables are not resident. Takes a few reads per module.
 */
uint64_t exports_find(struct image *image, const char *name);

#endif
