/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a mapping is for as a whole, by its name, its file and its permissions: for memory that nobody claims. */
#ifndef HEAP_MAPPING_PURPOSE_H
#define HEAP_MAPPING_PURPOSE_H

#include "heap/image.h"
#include "model/purpose.h"

/* `mapping` is one of `image`. Names are untrusted: a process can give some to its memory, and misleads itself alone. */
enum purpose mapping_purpose_find(const struct image *image, const struct image_mapping *mapping);

/* Is it in the address space of the process at all? [vsyscall] is the kernel's, at one address for all. */
bool mapping_purpose_is_own(const struct image_mapping *mapping);

/* Do its pages count as memory of the process (RSS)? Those that the kernel maps by itself or a device has do not. */
bool mapping_purpose_counts(const struct image_mapping *mapping);

#endif
