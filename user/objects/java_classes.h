/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The class metadata of a Java virtual machine: the class space and the metaspace. */
#ifndef OBJECTS_JAVA_CLASSES_H
#define OBJECTS_JAVA_CLASSES_H

#include "image/claims.h"
#include "image/image.h"

/* Claim both. See java_heap_claim for `table`. */
void java_classes_claim(struct image *image, uint64_t table, struct claims *claims);

#endif
