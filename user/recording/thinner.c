/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See thinner.h. */
#include "recording/thinner.h"

#include <stdio.h>

/* Intervals that are taken out at once: more than one comes in meanwhile, and few enough not to take long. */
#define AT_ONCE 16

static const char *const thinner_tables[THINNER_TABLES] = { "figures", "process", "loss",
							    "born",    "verdict", "budget",
							    "heap",    "cohort",  "estimate" };

/* Of what was there in some intervals only, rows of which none is left. */
static const char thinner_drop_spans[] =
	"DELETE FROM window_mark WHERE until IS NOT NULL AND NOT EXISTS"
	" (SELECT 1 FROM interval WHERE id >= since AND id < until);"
	"DELETE FROM census WHERE until IS NOT NULL AND NOT EXISTS"
	" (SELECT 1 FROM interval WHERE id >= since AND id < until);";

static size_t thinner_tables_count(const struct thinner *thinner)
{
	return thinner->budget ? THINNER_TABLES : THINNER_ALWAYS;
}

void thinner_open(struct thinner *thinner, struct database *database, uint64_t limit, bool budget)
{
	char sql[128];
	size_t i;

	*thinner = (struct thinner){ .database = database, .limit = limit, .budget = budget };
	if (!limit)
		return;
	/* The distance of its neighbours against its age: the least first, and no two neighbours. */
	query_open(&thinner->find, database,
		   "SELECT id FROM (SELECT id, row_number() OVER w AS number,"
		   " (lead(time_ns) OVER w - lag(time_ns) OVER w) * 1.0 /"
		   " (max(time_ns) OVER () - time_ns + 1) AS weight"
		   " FROM interval WINDOW w AS (ORDER BY id)) WHERE weight IS NOT NULL AND"
		   " number % 2 = 0 AND id NOT IN"
		   " (SELECT interval FROM mark WHERE interval IS NOT NULL)"
		   " ORDER BY weight LIMIT ?");
	query_open(&thinner->next, database,
		   "SELECT id FROM interval WHERE id > ? ORDER BY id LIMIT 1");
	query_open(&thinner->count_pages, database,
		   "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
	for (i = 0; i < thinner_tables_count(thinner); i++) {
		snprintf(sql, sizeof(sql),
			 "UPDATE OR IGNORE %s SET interval = ? WHERE interval = ?",
			 thinner_tables[i]);
		query_open(&thinner->move[i], database, sql);
		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE interval = ?", thinner_tables[i]);
		query_open(&thinner->drop[i], database, sql);
	}
	query_open(&thinner->pass_whole, database,
		   "UPDATE interval SET whole = whole OR (SELECT whole FROM interval WHERE id = ?)"
		   " WHERE id = ?");
	query_open(&thinner->drop_interval, database, "DELETE FROM interval WHERE id = ?");
}

void thinner_close(struct thinner *thinner)
{
	size_t i;

	query_close(&thinner->find);
	query_close(&thinner->next);
	query_close(&thinner->count_pages);
	for (i = 0; i < THINNER_TABLES; i++) {
		query_close(&thinner->move[i]);
		query_close(&thinner->drop[i]);
	}
	query_close(&thinner->pass_whole);
	query_close(&thinner->drop_interval);
}

/* What `interval` has, the next one gets, unless it has its own. */
static void thinner_take_out(struct thinner *thinner, uint64_t interval)
{
	uint64_t next = 0;
	size_t i;

	query_number(&thinner->next, interval);
	if (query_next(&thinner->next))
		next = query_take_number(&thinner->next, INT64_MAX);
	query_stop(&thinner->next);
	if (!next)
		return;
	for (i = 0; i < thinner_tables_count(thinner); i++) {
		query_number(&thinner->move[i], next);
		query_number(&thinner->move[i], interval);
		query_run(&thinner->move[i]);
		query_number(&thinner->drop[i], interval);
		query_run(&thinner->drop[i]);
	}
	query_number(&thinner->pass_whole, interval);
	query_number(&thinner->pass_whole, next);
	query_run(&thinner->pass_whole);
	query_number(&thinner->drop_interval, interval);
	query_run(&thinner->drop_interval);
}

static uint64_t thinner_size(struct thinner *thinner)
{
	uint64_t bytes = 0;

	if (query_next(&thinner->count_pages))
		bytes = query_take_number(&thinner->count_pages, INT64_MAX);
	query_stop(&thinner->count_pages);
	return bytes;
}

void thinner_run(struct thinner *thinner)
{
	uint64_t found[AT_ONCE];
	size_t count = 0, i;

	if (!thinner->limit || thinner_size(thinner) <= thinner->limit)
		return;
	query_number(&thinner->find, AT_ONCE);
	while (query_next(&thinner->find))
		found[count++] = query_take_number(&thinner->find, INT64_MAX);
	if (!count)
		return;
	database_run(thinner->database, "BEGIN IMMEDIATE");
	for (i = 0; i < count; i++)
		thinner_take_out(thinner, found[i]);
	if (thinner->budget)
		database_run(thinner->database, thinner_drop_spans);
	database_run(thinner->database, "COMMIT; PRAGMA incremental_vacuum");
}
