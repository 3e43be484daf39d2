/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps of runtimes whose objects are not counted: PHP's, V8's and Java's memory is claimed, by what it is like. */
#ifndef OBJECTS_PLAIN_HEAPS_H
#define OBJECTS_PLAIN_HEAPS_H

#include "heap/claims.h"
#include "heap/image.h"

/* All of them. What is not found is not claimed. */
void plain_heaps_claim(struct image *image, struct claims *claims);

#endif
