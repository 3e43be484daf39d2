/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See past_reader.h. An interval has what differs from the one before, so what each site had last is kept. */
#include "recording/past_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "recording/classes.h"
#include "recording/figures_check.h"

/* More than any recording has: one with more is made to take memory, or time. */
#define MOMENTS_MAX (1 << 20)
#define SITES_MAX READER_SITES_MAX

/* What histories are made of, and no more: there may be very many. */
struct past_site {
	uint64_t key;
	uint64_t alloc_bytes, alloc_objects, free_bytes, free_objects;
	uint64_t lives[LIFE_CLASSES];
};

static struct site_stats past_stats(const struct past_site *site)
{
	struct site_stats stats = { .alloc_bytes = site->alloc_bytes,
				    .alloc_objects = site->alloc_objects,
				    .free_bytes = site->free_bytes,
				    .free_objects = site->free_objects };

	memcpy(stats.lives.classes, site->lives, sizeof(site->lives));
	return stats;
}

struct past {
	struct database *database;
	const struct past_sink *sink;
	struct query rows;
	struct table sites; /* by id: struct past_site, those that there are; owned */
	struct table keys; /* of these; the value is the id, and 1 */
	uint64_t interval, time_ns; /* that is being read; 0 = none yet */
	size_t moments;
};

bool past_reader_is_known(struct reader *reader)
{
	struct query query;
	bool known;

	query_open(&query, &reader->database, "SELECT * FROM figures");
	known = query_find_column(&query, "lives") >= 0;
	query_close(&query);
	return known;
}

static struct past_site *past_site(struct past *past, uint64_t id)
{
	struct past_site *site = table_get(&past->sites, id);

	if (site)
		return site;
	if (past->sites.count >= SITES_MAX) {
		database_damage(past->database,
				"it has more sites than a recorder writes: over 1048576 at a time");
		return NULL;
	}
	site = memory_alloc(1, sizeof(*site));
	table_put(&past->sites, id, site);
	return site;
}

static void past_drop_site(struct past *past, uint64_t id)
{
	struct past_site *site = table_remove(&past->sites, id);

	if (site)
		table_remove(&past->keys, site->key);
	free(site);
}

/* A key is of one site at a time. */
static void past_check_key(struct past *past, uint64_t id, uint64_t key)
{
	const uint64_t other = (uintptr_t)table_get(&past->keys, key);

	if (other && other != id + 1)
		database_damage_at(past->database,
				   "site %" PRIu64 ": its key %" PRIi64 " is that of site %" PRIu64
				   ", too",
				   id, (int64_t)key, other - 1);
	else
		table_put(&past->keys, key, (void *)(uintptr_t)(id + 1));
}

static void past_read_row(struct past *past)
{
	struct query *query = &past->rows;
	const uint64_t id = query_take_number(query, INT64_MAX);
	const uint64_t key = query_take_word(query);
	struct past_site *site;
	struct site_stats stats;

	/* What ended programs held is not judged. */
	if (query_take_bool(query) | query_take_bool(query)) {
		past_drop_site(past, id);
		return;
	}
	site = past_site(past, id);
	if (!site)
		return;
	past_check_key(past, id, key);
	site->key = key;
	site->alloc_bytes = query_take_number(query, INT64_MAX);
	site->alloc_objects = query_take_number(query, INT64_MAX);
	site->free_bytes = query_take_number(query, INT64_MAX);
	site->free_objects = query_take_number(query, INT64_MAX);
	if (!classes_parse(query_take_text(query), site->lives))
		database_damage(past->database, "a histogram is none");
	stats = past_stats(site);
	figures_check(past->database, (struct figures_place){ past->interval, id }, &stats);
}

static void past_give(const struct past *past, uint64_t time_ns)
{
	const struct past_sink *sink = past->sink;
	const struct table_slot *slot;
	size_t cursor;

	if (!database_is_fine(past->database) || !sink->begin(sink->context, time_ns))
		return;
	for (cursor = 0; (slot = table_next(&past->sites, &cursor));) {
		const struct past_site *site = slot->value;
		const struct site_stats stats = past_stats(site);

		sink->set(sink->context, site->key, &stats);
	}
	sink->end(sink->context);
}

static void past_read_interval(struct past *past, struct query *intervals)
{
	const uint64_t id = query_take_number(intervals, INT64_MAX);
	const uint64_t time_ns = query_take_number(intervals, INT64_MAX / 2);

	figures_check_time(past->database, id, time_ns, past->time_ns);
	past->interval = id;
	past->time_ns = time_ns;
	if (past->moments++ == MOMENTS_MAX) {
		database_damage(past->database, "it has too many intervals");
		return;
	}
	query_number(&past->rows, id);
	while (query_next(&past->rows))
		past_read_row(past);
	past_give(past, time_ns);
}

static void past_free_sites(struct table *sites)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(sites, &cursor));)
		free(slot->value);
	table_free(sites);
}

int past_reader_read(struct reader *reader, uint64_t last, const struct past_sink *sink,
		     struct error *error)
{
	struct past past = { .database = &reader->database, .sink = sink };
	struct query intervals;

	query_open(&past.rows, past.database,
		   "SELECT f.site, s.key, s.ended, f.gone, f.alloc_bytes, f.alloc_objects,"
		   " f.free_bytes, f.free_objects, f.lives"
		   " FROM figures f JOIN site s ON s.id = f.site WHERE f.interval = ?");
	query_open(&intervals, past.database,
		   "SELECT id, time_ns FROM interval WHERE id <= ? ORDER BY id");
	query_number(&intervals, last);
	while (query_next(&intervals))
		past_read_interval(&past, &intervals);
	query_close(&intervals);
	query_close(&past.rows);
	past_free_sites(&past.sites);
	table_free(&past.keys);
	return database_finish(past.database, error);
}
