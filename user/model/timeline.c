/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See timeline.h. */
#include "model/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct timeline_change {
	size_t moment;
	uint64_t bytes; /* from then on */
};

struct timeline_site {
	struct timeline_change *changes;
	size_t count, capacity;
	uint64_t bytes; /* at the last moment */
	size_t set; /* the moment at which it was set last */
	bool ended;
	bool is_cut; /* a change found no room */
};

/* A site that was kept of an ended program may have the key of one that lives. */
static uint64_t timeline_key(uint64_t key, bool ended)
{
	return ended ? ~key : key;
}

void timeline_begin(struct timeline *timeline, uint64_t time_ns)
{
	timeline->moments = memory_grow(timeline->moments, timeline->count, &timeline->capacity,
					sizeof(*timeline->moments));
	timeline->moments[timeline->count++] =
		(struct timeline_moment){ .time_ns = time_ns, .bytes = timeline->bytes };
}

static void timeline_add_change(struct timeline *timeline, struct timeline_site *site)
{
	const size_t moment = timeline->count - 1;

	if (timeline->changes == TIMELINE_CHANGES_MAX) {
		timeline->is_full = site->is_cut = true;
		return;
	}
	site->changes =
		memory_grow(site->changes, site->count, &site->capacity, sizeof(*site->changes));
	site->changes[site->count++] = (struct timeline_change){ moment, site->bytes };
	timeline->changes++;
}

static void timeline_change(struct timeline *timeline, struct timeline_site *site, uint64_t bytes)
{
	site->set = timeline->count - 1;
	if (site->bytes == bytes)
		return;
	if (!site->ended)
		timeline->bytes += bytes - site->bytes;
	timeline->moments[timeline->count - 1].bytes = timeline->bytes;
	site->bytes = bytes;
	timeline_add_change(timeline, site);
}

void timeline_set(struct timeline *timeline, uint64_t key, uint64_t bytes, bool ended)
{
	const uint64_t own = timeline_key(key, ended);
	struct timeline_site *site = table_get(&timeline->sites, own);

	if (!timeline->count)
		return;
	if (!site) {
		site = memory_alloc(1, sizeof(*site));
		site->ended = ended;
		table_put(&timeline->sites, own, site);
	}
	timeline_change(timeline, site, bytes);
}

void timeline_end_whole(struct timeline *timeline)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&timeline->sites, &cursor))) {
		struct timeline_site *site = slot->value;

		if (site->set + 1 != timeline->count)
			timeline_change(timeline, site, 0);
	}
}

void timeline_mark(struct timeline *timeline, size_t moment, const char *name)
{
	timeline->marks = memory_grow(timeline->marks, timeline->mark_count,
				      &timeline->mark_capacity, sizeof(*timeline->marks));
	timeline->marks[timeline->mark_count++] =
		(struct timeline_mark){ strings_keep(&timeline->strings, name), moment };
}

/* Add what a site held to the sums. */
static void timeline_add_site(const struct timeline *timeline, const struct timeline_site *site,
			      uint64_t *bytes)
{
	size_t i, at, end;

	for (i = 0; i < site->count; i++) {
		end = i + 1 < site->count ? site->changes[i + 1].moment : timeline->count;
		for (at = site->changes[i].moment; at < end; at++)
			bytes[at] += site->changes[i].bytes;
	}
}

/* A site of a row; NULL = it has not held anything. False if what it held is not known. */
static bool timeline_find(const struct timeline *timeline, const struct snapshot_site *site,
			  const struct timeline_site **ret_site)
{
	*ret_site = table_get(&timeline->sites, timeline_key(site->key, site->ended));
	return !timeline->is_full || (*ret_site && !(*ret_site)->is_cut);
}

bool timeline_add_row(const struct timeline *timeline, const struct snapshot_site *row,
		      uint64_t *ret_bytes)
{
	const struct snapshot_site *sites = row->member_count ? row->members : row;
	const size_t count = row->member_count ? row->member_count : 1;
	const struct timeline_site *site;
	size_t i;

	memset(ret_bytes, 0, timeline->count * sizeof(*ret_bytes));
	for (i = 0; i < count; i++) {
		if (!timeline_find(timeline, &sites[i], &site))
			return false;
		if (site)
			timeline_add_site(timeline, site, ret_bytes);
	}
	return true;
}

static uint64_t timeline_site_at(const struct timeline_site *site, size_t moment)
{
	size_t first = 0, end = site->count, middle;

	while (first < end) {
		middle = first + (end - first) / 2;
		if (site->changes[middle].moment <= moment)
			first = middle + 1;
		else
			end = middle;
	}
	return first ? site->changes[first - 1].bytes : 0;
}

bool timeline_row_at(const struct timeline *timeline, const struct snapshot_site *row,
		     size_t moment, uint64_t *ret_bytes)
{
	const struct snapshot_site *sites = row->member_count ? row->members : row;
	const size_t count = row->member_count ? row->member_count : 1;
	const struct timeline_site *site;
	size_t i;

	*ret_bytes = 0;
	for (i = 0; i < count; i++) {
		if (!timeline_find(timeline, &sites[i], &site))
			return false;
		if (site)
			*ret_bytes += timeline_site_at(site, moment);
	}
	return true;
}

static void timeline_free_site(struct timeline_site *site)
{
	free(site->changes);
	free(site);
}

void timeline_free(struct timeline *timeline)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&timeline->sites, &cursor)))
		timeline_free_site(slot->value);
	table_free(&timeline->sites);
	strings_free(&timeline->strings);
	free(timeline->moments);
	free(timeline->marks);
	*timeline = (struct timeline){ 0 };
}
