/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Claims heaps of runtimes whose objects are not counted: PHP, V8 and Java, recognized by their
 * structures.
 */
#ifndef OBJECTS_PLAIN_HEAPS_H
#define OBJECTS_PLAIN_HEAPS_H

#include "image/claims.h"
#include "image/image.h"

/* Claim all that are found. */
void plain_heaps_claim(struct image *image, struct claims *claims);

#endif
