/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The purpose of a whole mapping, by its name, file and permissions: for unclaimed memory. */
#ifndef IMAGE_MAPPING_PURPOSE_H
#define IMAGE_MAPPING_PURPOSE_H

#include "image/image.h"
#include "model/purpose.h"

/*
 * `mapping` belongs to `image`. Names are untrusted: a process can name its memory, but misleads
 * only itself.
 */
enum purpose mapping_purpose_find(const struct image *image, const struct image_mapping *mapping);

/* Does it belong to the process? [vsyscall] is the kernel's, at one address for all. */
bool mapping_purpose_is_own(const struct image_mapping *mapping);

/* Do its pages count in the process's RSS? Pages that the kernel or a device maps do not. */
bool mapping_purpose_counts(const struct image_mapping *mapping);

#endif
