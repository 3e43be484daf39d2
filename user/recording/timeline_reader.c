/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See timeline_reader.h. Unlike a snapshot, all of it is read in one pass: an interval has what differs from the one before. */
#include "recording/timeline_reader.h"

#include "base/buffer.h"
#include "recording/figures_check.h"

/* More than any recording has: one with more is made to take memory. */
#define MOMENTS_MAX (1 << 20)
#define SITES_MAX READER_SITES_MAX
#define MARKS_MAX (1 << 12)

static void timeline_reader_site(struct database *database, struct query *query, bool without_young,
				 struct timeline *timeline)
{
	struct site_stats stats = { 0 };
	const uint64_t key = query_take_word(query);
	const bool ended = query_take_bool(query);
	const bool gone = query_take_bool(query);

	stats.alloc_bytes = query_take_number(query, INT64_MAX);
	stats.free_bytes = query_take_number(query, INT64_MAX);
	stats.young_bytes = query_take_number(query, INT64_MAX);
	stats = site_stats_counted(&stats, without_young);
	if (timeline->sites.count >= SITES_MAX)
		database_damage(database,
				"it has more sites than a recorder writes: over 1048576 at a time");
	else
		timeline_set(timeline, key, gone ? 0 : site_stats_inuse_bytes(&stats), ended);
}

static void timeline_reader_interval(struct database *database, struct query *intervals,
				     struct query *sites, bool without_young,
				     struct table *positions, uint64_t *before_ns,
				     struct timeline *timeline)
{
	const uint64_t id = query_take_number(intervals, INT64_MAX);
	const uint64_t time_ns = query_take_number(intervals, INT64_MAX / 2);
	const uint64_t start_ns = query_take_number(intervals, INT64_MAX / 2);
	const bool whole = query_take_bool(intervals);

	figures_check_time(database, id, time_ns, *before_ns);
	*before_ns = time_ns;
	if (timeline->count == MOMENTS_MAX) {
		database_damage(database, "it has too many intervals");
		return;
	}
	timeline_begin(timeline, time_ns > start_ns ? time_ns - start_ns : 0);
	table_put(positions, id, (void *)(uintptr_t)timeline->count);
	query_number(sites, id);
	while (query_next(sites))
		timeline_reader_site(database, sites, without_young, timeline);
	if (whole)
		timeline_end_whole(timeline);
}

static void timeline_reader_marks(struct database *database, uint64_t last,
				  const struct table *positions, struct timeline *timeline)
{
	struct query query;
	const char *name;
	uint64_t position;

	query_open(&query, database,
		   "SELECT interval, name FROM mark WHERE interval <= ? ORDER BY id");
	query_number(&query, last);
	while (timeline->mark_count < MARKS_MAX && query_next(&query)) {
		position = (uintptr_t)table_get(positions, query_take_number(&query, INT64_MAX));
		name = query_take_text(&query);
		if (position && name)
			timeline_mark(timeline, position - 1, name);
	}
	query_close(&query);
}

/* Earlier recordings have no column for young blocks, and count none. */
static void timeline_reader_open(struct database *database, struct query *sites)
{
	struct buffer sql = { 0 };
	struct query all;

	query_open(&all, database, "SELECT * FROM figures");
	buffer_printf(&sql,
		      "SELECT s.key, s.ended, f.gone, f.alloc_bytes, f.free_bytes, %s"
		      " FROM figures f JOIN site s ON s.id = f.site WHERE f.interval = ?",
		      query_find_column(&all, "young_bytes") >= 0 ? "f.young_bytes" : "0");
	query_close(&all);
	query_open(sites, database, sql.data);
	buffer_free(&sql);
}

int timeline_reader_read(struct reader *reader, uint64_t last, bool without_young,
			 struct timeline *timeline, struct error *error)
{
	struct database *database = &reader->database;
	struct table positions = { 0 }; /* of intervals by id, from 1 */
	struct query intervals, sites;
	uint64_t before_ns = 0;

	query_open(&intervals, database,
		   "SELECT id, time_ns, start_ns, whole FROM interval WHERE id <= ? ORDER BY id");
	timeline_reader_open(database, &sites);
	query_number(&intervals, last);
	while (query_next(&intervals))
		timeline_reader_interval(database, &intervals, &sites, without_young, &positions,
					 &before_ns, timeline);
	query_close(&intervals);
	query_close(&sites);
	timeline_reader_marks(database, last, &positions, timeline);
	table_free(&positions);
	return database_finish(database, error);
}
