/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See born_reader.h. */
#include "recording/born_reader.h"

#include <stdlib.h>

#include "base/memory.h"

/* More than any recording has: one with more is made to take memory. */
#define MARKS_MAX (1 << 20)
#define BIRTHS_MAX (1 << 22)

static bool born_reader_has_table(struct database *database)
{
	struct query query;
	bool found;

	query_open(&query, database, "SELECT 1 FROM sqlite_schema WHERE name = 'born'");
	found = query_next(&query);
	query_close(&query);
	return found;
}

static void born_reader_load_marks(struct database *database, uint64_t last,
				   struct snapshot *snapshot)
{
	struct marks marks = { 0 };
	struct query query;

	query_open(&query, database,
		   "SELECT time_ns FROM interval WHERE id <= ? AND id IN"
		   " (SELECT interval FROM mark) ORDER BY id");
	query_number(&query, last);
	while (query_next(&query)) {
		if (marks.count == MARKS_MAX) {
			database_damage(database, "it has too many marks");
			break;
		}
		marks_add(&marks, query_take_number(&query, INT64_MAX / 2));
	}
	query_close(&query);
	snapshot_set_marks(snapshot, &marks);
	marks_free(&marks);
}

/* A later row of the same birth takes the place of the one before. */
static void born_reader_put(struct generations *births, const struct generation *born)
{
	struct generation *last = births->count ? &births->items[births->count - 1] : NULL;

	if (last && last->since_ns == born->since_ns) {
		*last = *born;
		return;
	}
	births->items = memory_grow(births->items, births->count, &births->capacity,
				    sizeof(*births->items));
	births->items[births->count++] = *born;
}

void born_reader_load(struct database *database, uint64_t first, uint64_t last,
		      struct snapshot *snapshot, struct table *ret_births)
{
	struct query query;
	size_t count = 0;

	if (!born_reader_has_table(database))
		return;
	born_reader_load_marks(database, last, snapshot);
	query_open(&query, database,
		   "SELECT site, since_ns, bytes, objects FROM born"
		   " WHERE interval BETWEEN ? AND ? ORDER BY site, since_ns, interval");
	query_number(&query, first);
	query_number(&query, last);
	while (query_next(&query)) {
		uint64_t site = query_take_number(&query, INT64_MAX);
		struct generations *births = table_get(ret_births, site);
		struct generation born;

		if (++count > BIRTHS_MAX) {
			database_damage(database, "it has too many births");
			break;
		}
		if (!births) {
			births = memory_alloc(1, sizeof(*births));
			table_put(ret_births, site, births);
		}
		born.since_ns = query_take_number(&query, INT64_MAX);
		born.bytes = query_take_number(&query, INT64_MAX);
		born.objects = query_take_number(&query, INT64_MAX);
		born_reader_put(births, &born);
	}
	query_close(&query);
}

void born_reader_free(struct table *births)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(births, &cursor));) {
		generations_free(slot->value);
		free(slot->value);
	}
	table_free(births);
}
