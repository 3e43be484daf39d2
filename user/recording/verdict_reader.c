/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See verdict_reader.h. */
#include "recording/verdict_reader.h"

#include <stdlib.h>

#include "base/memory.h"
#include "recording/reader.h"

/* More than any recording has: one with more is made to take memory. */
#define SITES_MAX READER_SITES_MAX

static bool verdict_reader_has_table(struct database *database)
{
	struct query query;
	bool found;

	query_open(&query, database, "SELECT 1 FROM sqlite_schema WHERE name = 'verdict'");
	found = query_next(&query);
	query_close(&query);
	return found;
}

static void verdict_reader_row(struct database *database, struct query *query,
			       struct strings *strings, struct table *verdicts)
{
	const uint64_t site = query_take_number(query, INT64_MAX);
	struct recorded_verdict *verdict = table_get(verdicts, site);

	if (!verdict && verdicts->count == SITES_MAX) {
		database_damage(database, "it has verdicts of too many sites");
		return;
	}
	if (!verdict) {
		verdict = memory_alloc(1, sizeof(*verdict));
		table_put(verdicts, site, verdict);
	}
	verdict->word = strings_keep(strings, query_take_text(query));
	verdict->since_ns = query_take_number(query, INT64_MAX / 2);
}

void verdict_reader_load(struct database *database, uint64_t last, struct strings *strings,
			 struct table *ret_verdicts)
{
	struct query query;

	if (!verdict_reader_has_table(database))
		return;
	query_open(&query, database,
		   "SELECT v.site, v.word, i.time_ns FROM verdict v JOIN interval i"
		   " ON i.id = v.interval WHERE v.interval <= ? ORDER BY v.interval");
	query_number(&query, last);
	while (query_next(&query))
		verdict_reader_row(database, &query, strings, ret_verdicts);
	query_close(&query);
}

void verdict_reader_free(struct table *verdicts)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(verdicts, &cursor));)
		free(slot->value);
	table_free(verdicts);
}
