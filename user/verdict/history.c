/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See history.h. */
#include "verdict/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Where a site has its point of the peak, and how many points it has with that. */
#define HISTORY_PEAK HISTORY_POINTS
#define HISTORY_KEPT (HISTORY_POINTS + 1)

/* Of each two, the later one stays. */
static void history_thin_site(struct history_point *points)
{
	size_t i;

	for (i = 0; i < HISTORY_POINTS / 2; i++)
		points[i] = points[2 * i + 1];
	memset(&points[i], 0, (HISTORY_POINTS - i) * sizeof(*points));
}

static bool history_is_empty(const struct history_point *points)
{
	size_t i;

	for (i = 0; i < HISTORY_KEPT && !points[i].born; i++)
		;
	return i == HISTORY_KEPT;
}

/* Sites that are gone leave nothing once their last moment is dropped. */
static void history_drop_empty(struct history *history)
{
	struct table kept = { 0 };
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&history->sites, &cursor))) {
		if (history_is_empty(slot->value))
			free(slot->value);
		else
			table_put(&kept, slot->key, slot->value);
	}
	table_free(&history->sites);
	history->sites = kept;
}

static void history_thin(struct history *history)
{
	const struct table_slot *slot;
	size_t cursor = 0, i;

	while ((slot = table_next(&history->sites, &cursor)))
		history_thin_site(slot->value);
	for (i = 0; i < HISTORY_POINTS / 2; i++)
		history->times[i] = history->times[2 * i + 1];
	history->count = HISTORY_POINTS / 2;
	history->spacing_ns *= 2;
	history_drop_empty(history);
}

bool history_begin(struct history *history, uint64_t time_ns)
{
	if (!history->spacing_ns)
		history->spacing_ns = HISTORY_SPACING_NS;
	/* Timers are a little early or late. */
	if (history->count && time_ns < history->times[history->count - 1] + history->spacing_ns -
						HISTORY_SPACING_NS / 8)
		return false;
	if (history->count == HISTORY_POINTS)
		history_thin(history);
	history->times[history->count++] = time_ns;
	return true;
}

void history_slow_down(struct history *history)
{
	history->spacing_ns *= 2;
}

void history_take_back(struct history *history)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	history->count--;
	while ((slot = table_next(&history->sites, &cursor))) {
		struct history_point *points = slot->value;

		points[history->count] = (struct history_point){ 0 };
	}
}

static void history_keep_peak(struct history *history)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&history->sites, &cursor))) {
		struct history_point *points = slot->value;

		points[HISTORY_PEAK] = points[history->count - 1];
	}
}

void history_end(struct history *history)
{
	const uint64_t time_ns = history->times[history->count - 1];
	const struct table_slot *slot;
	size_t cursor = 0;
	uint64_t bytes = 0;

	while ((slot = table_next(&history->sites, &cursor))) {
		const struct history_point *points = slot->value;

		if (__builtin_add_overflow(bytes, points[history->count - 1].bytes, &bytes))
			bytes = UINT64_MAX;
	}
	if (history->last_ns && time_ns - history->last_ns > history->widest_ns)
		history->widest_ns = time_ns - history->last_ns;
	history->last_ns = time_ns;
	if (history->peak_ns && bytes <= history->peak_bytes)
		return;
	history->peak_ns = time_ns;
	history->peak_bytes = bytes;
	history_keep_peak(history);
}

uint64_t history_peak_of(const struct history *history, const struct snapshot_site *row)
{
	const struct snapshot_site *sites = row->member_count ? row->members : row;
	const size_t count = row->member_count ? row->member_count : 1;
	const struct history_point *points;
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		points = table_get(&history->sites, sites[i].key);
		if (points && __builtin_add_overflow(bytes, points[HISTORY_PEAK].bytes, &bytes))
			bytes = UINT64_MAX;
	}
	return bytes;
}

size_t history_age(unsigned int class)
{
	size_t age = class > HISTORY_FIRST_CLASS ? (class - HISTORY_FIRST_CLASS + 1) / 2 : 0;

	return age < HISTORY_AGES ? age : HISTORY_AGES - 1;
}

struct history_point history_point_of(const struct site_stats *stats)
{
	const struct site_stats counted = site_stats_counted(stats, false);
	struct history_point point = { .bytes = site_stats_inuse_bytes(&counted),
				       .objects = site_stats_inuse_objects(&counted),
				       .born = counted.alloc_objects };
	uint64_t freed = 0;
	unsigned int class = LIFE_CLASSES;
	size_t age;

	for (age = HISTORY_AGES; age-- > 0;) {
		while (class > HISTORY_FIRST_CLASS + 2 * age)
			freed += stats->lives.classes[--class];
		point.freed[age] = freed < UINT32_MAX ? (uint32_t)freed : UINT32_MAX;
	}
	return point;
}

void history_set(struct history *history, uint64_t key, const struct site_stats *stats)
{
	struct history_point *points = table_get(&history->sites, key);

	if (!history->count)
		return;
	if (!points && history->sites.count == HISTORY_SITES_MAX) {
		history->is_full = true;
		return;
	}
	if (!points) {
		points = memory_alloc(HISTORY_KEPT, sizeof(*points));
		table_put(&history->sites, key, points);
	}
	points[history->count - 1] = history_point_of(stats);
}

static void history_add(struct history_point *sum, const struct history_point *more)
{
	size_t i;

	sum->bytes += more->bytes;
	sum->objects += more->objects;
	sum->born += more->born;
	for (i = 0; i < HISTORY_AGES; i++)
		sum->freed[i] = UINT32_MAX - sum->freed[i] > more->freed[i]
					? sum->freed[i] + more->freed[i]
					: UINT32_MAX;
}

bool history_is_known(const struct history *history, const struct snapshot_site *row)
{
	const struct snapshot_site *sites = row->member_count ? row->members : row;
	size_t count = row->member_count ? row->member_count : 1, i;

	for (i = 0; history->is_full && i < count; i++)
		if (!table_get(&history->sites, sites[i].key))
			return false;
	return true;
}

void history_add_row(const struct history *history, const struct snapshot_site *row,
		     struct history_point sum[HISTORY_POINTS])
{
	const struct snapshot_site *sites = row->member_count ? row->members : row;
	size_t count = row->member_count ? row->member_count : 1, i, n;

	for (i = 0; i < count; i++) {
		const struct history_point *points = table_get(&history->sites, sites[i].key);

		for (n = 0; points && n < history->count; n++)
			history_add(&sum[n], &points[n]);
	}
}

void history_add_all(const struct history *history, struct history_point sum[HISTORY_POINTS])
{
	const struct table_slot *slot;
	size_t cursor = 0, n;

	while ((slot = table_next(&history->sites, &cursor))) {
		const struct history_point *points = slot->value;

		for (n = 0; n < history->count; n++)
			history_add(&sum[n], &points[n]);
	}
}

void history_take(const struct history *history, uint64_t start_ns, struct timeline *timeline)
{
	const struct table_slot *slot;
	size_t cursor, i;

	for (i = 0; i < history->count; i++) {
		timeline_begin(timeline,
			       history->times[i] > start_ns ? history->times[i] - start_ns : 0);
		for (cursor = 0; (slot = table_next(&history->sites, &cursor));) {
			const struct history_point *points = slot->value;

			timeline_set(timeline, slot->key, points[i].bytes, false);
		}
	}
	timeline->is_full |= history->is_full;
}

void history_free(struct history *history)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&history->sites, &cursor)))
		free(slot->value);
	table_free(&history->sites);
	*history = (struct history){ 0 };
}
