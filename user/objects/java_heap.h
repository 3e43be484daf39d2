/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of a Java virtual machine (HotSpot), which exports a table of its fields for debuggers. */
#ifndef OBJECTS_JAVA_HEAP_H
#define OBJECTS_JAVA_HEAP_H

#include "image/claims.h"
#include "image/image.h"

/* A row of gHotSpotVMStructs. The texts are C strings. */
struct java_field {
	uint64_t type, name, type_of_field;
	uint64_t is_static; /* 32 bits */
	uint64_t offset, address; /* address: of a static field */
};

/* Claim heap and generated code. `table` is the value of gHotSpotVMStructs. */
void java_heap_claim(struct image *image, uint64_t table, struct claims *claims);

/* The field `name` of `type`; false if the table has none. */
bool java_find(struct image *image, uint64_t table, const char *type, const char *name,
	       struct java_field *ret_field);

#endif
