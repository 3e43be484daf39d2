/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a Java virtual machine has of classes: the class space and the metaspace. */
#ifndef OBJECTS_JAVA_CLASSES_H
#define OBJECTS_JAVA_CLASSES_H

#include "heap/claims.h"
#include "heap/image.h"

/* Claim both. `table` as for java_heap_claim. */
void java_classes_claim(struct image *image, uint64_t table, struct claims *claims);

#endif
