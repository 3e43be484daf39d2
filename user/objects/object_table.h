/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts objects of a runtime by class; filled by the censuses of Ruby and Python. A class is
 * identified by a number while objects are counted; names are looked up once, at the end.
 */
#ifndef OBJECTS_OBJECT_TABLE_H
#define OBJECTS_OBJECT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/table.h"
#include "model/memory_report.h"

struct object_class {
	uint64_t id; /* address of the class, or a small number for a kind without one */
	uint64_t live, newborn, garbage, old; /* objects */
	uint64_t slot_bytes, other_bytes;
	uint64_t native_bytes; /* part of other_bytes */
	uint64_t retained;
};

#define OBJECT_RECENT 16

struct object_recent {
	uint64_t id;
	size_t place; /* position + 1; 0 = none yet */
};

/* {0} is empty. `max_classes` 0 = no limit; classes beyond it count under id 0. */
struct object_table {
	struct object_class *items;
	size_t count, capacity;
	size_t max_classes;
	struct table by_id; /* id -> position + 1 */
	/* Cache: a few classes often alternate. */
	struct object_recent recent[OBJECT_RECENT];
};

/*
 * The class of this id; created if new. Valid until the next call; its position in `items` is
 * stable.
 */
struct object_class *object_table_get(struct object_table *table, uint64_t id);
void object_table_free(struct object_table *table);

struct object_namer {
	/* Write the class's name, printable or not, into `ret_name`; "" = it has none. */
	void (*name)(void *context, uint64_t id, char *ret_name, size_t size);
	void *context;
};

#define OBJECT_NAME_MAX 256

/*
 * Add the classes to the runtime, largest first; classes of equal name become one row. Names are
 * made safe for a terminal, and kept in `names`.
 */
void object_table_report(const struct object_table *table, const struct object_namer *namer,
			 struct strings *names, struct memory_runtime *runtime);

#endif
