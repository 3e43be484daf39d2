/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See difference.h. Rows are put together by what they are known by; then those that are known only by their names. */
#include "analyze/difference.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/difference_match.h"
#include "verdict/interval.h"
#include "base/compare.h"
#include "base/memory.h"
#include "base/seed.h"
#include "base/table.h"

/* A site that is being put together. */
struct part {
	struct difference_site site;
	unsigned int profiles; /* that have it, as bits */
	bool is_merged; /* into another one */
	struct part *next; /* of the same names */
};

struct comparison {
	struct difference *difference;
	struct part *parts;
	size_t count;
	struct table by_hash; /* index of a part + 1 */
	uint64_t seed;
};

const char *difference_word(enum difference_word word)
{
	static const char *const words[] = { "new",  "grown",	"same",	    "shrunk",
					     "gone", "unknown", "uncertain" };

	return words[word];
}

/* Parts */

static void part_add_since(struct part *part, const struct profile_row *row)
{
	const struct estimate unknown = { 0, -INFINITY, INFINITY };

	part->site.estimated = true;
	part->site.since = interval_add(part->site.since, row->since_known ? row->since : unknown);
}

static void comparison_add(struct comparison *comparison, const struct profile_row *row,
			   size_t profile)
{
	uint64_t hash = difference_match_hash(row, comparison->seed, false);
	size_t index = (uintptr_t)table_get(&comparison->by_hash, hash);
	struct part *part;

	if (!index) {
		index = ++comparison->count;
		table_put(&comparison->by_hash, hash, (void *)(uintptr_t)index);
	}
	part = &comparison->parts[index - 1];
	part->site.row = row;
	part->profiles |= 1u << profile;
	if (profile == 1 && comparison->difference->windows)
		part_add_since(part, row);
	profile_figures_add(&part->site.figures[profile], &row->figures);
	if (comparison->difference->births_known && profile == 2)
		retained_add_births(&part->site.retained, comparison->difference->profiles, row);
}

static void comparison_add_all(struct comparison *comparison)
{
	const struct difference *difference = comparison->difference;
	size_t count = 0, i, n;

	for (i = 0; i < difference->profile_count; i++)
		count += difference->profiles[i]->row_count;
	comparison->parts = memory_alloc(count + 1, sizeof(*comparison->parts));
	for (i = 0; i < difference->profile_count; i++)
		for (n = 0; n < difference->profiles[i]->row_count; n++)
			comparison_add(comparison, &difference->profiles[i]->rows[n], i);
}

/* Put `from` into `to`: its row is the later one's. */
static void part_merge(struct part *to, struct part *from, size_t profiles)
{
	size_t i;

	if (from->profiles > to->profiles)
		to->site.row = from->site.row;
	retained_add(&to->site.retained, &from->site.retained);
	for (i = 0; i < profiles; i++)
		profile_figures_add(&to->site.figures[i], &from->site.figures[i]);
	to->profiles |= from->profiles;
	to->site.estimated |= from->site.estimated;
	to->site.since = interval_add(to->site.since, from->site.since);
	to->site.is_rebuilt = true;
	from->is_merged = true;
}

/* Are all parts of a name of different profiles? Only then it is certain which ones belong together. */
static bool part_is_clear(const struct part *part)
{
	unsigned int seen = 0;

	for (; part; part = part->next) {
		if (seen & part->profiles)
			return false;
		seen |= part->profiles;
	}
	return true;
}

static void comparison_merge_names(struct comparison *comparison, struct part *first)
{
	struct part *part;

	if (!part_is_clear(first))
		return;
	for (part = first->next; part; part = part->next)
		if (difference_match_rebuilt(first->site.row, part->site.row))
			part_merge(first, part, comparison->difference->profile_count);
}

/* Of what not all profiles have, files may have been built anew. */
static void comparison_merge(struct comparison *comparison)
{
	const unsigned int all = (1u << comparison->difference->profile_count) - 1;
	const struct table_slot *slot;
	struct table by_name = { 0 };
	size_t cursor, i;

	for (i = 0; i < comparison->count; i++) {
		struct part *part = &comparison->parts[i];
		uint64_t hash;

		if (part->profiles == all)
			continue;
		hash = difference_match_hash(part->site.row, comparison->seed, true);
		part->next = table_get(&by_name, hash);
		table_put(&by_name, hash, part);
	}
	for (cursor = 0; (slot = table_next(&by_name, &cursor));)
		comparison_merge_names(comparison, slot->value);
	table_free(&by_name);
}

/* Sites */

static int64_t difference_of(uint64_t before, uint64_t after)
{
	uint64_t size = after > before ? after - before : before - after;

	size = size < INT64_MAX ? size : INT64_MAX;
	return after > before ? (int64_t)size : -(int64_t)size;
}

static bool figures_hold(const struct profile_figures *figures)
{
	return profile_inuse_bytes(figures) || profile_inuse_objects(figures);
}

/* What sites held at each moment is growth that is estimated of all the time, so only the growth between them has a word. */
static enum difference_word site_word_estimated(const struct difference_site *site)
{
	if (site->since.low > 0)
		return DIFFERENCE_GROWN;
	return site->since.high < 0 ? DIFFERENCE_SHRUNK : DIFFERENCE_UNCERTAIN;
}

static enum difference_word site_word(const struct difference_site *site, size_t last)
{
	bool before = figures_hold(&site->figures[0]), after = figures_hold(&site->figures[last]);

	if (!site->known[0] || !site->known[last])
		return DIFFERENCE_UNKNOWN;
	if (before != after)
		return after ? DIFFERENCE_NEW : DIFFERENCE_GONE;
	if (site->growth_bytes)
		return site->growth_bytes > 0 ? DIFFERENCE_GROWN : DIFFERENCE_SHRUNK;
	if (site->growth_objects)
		return site->growth_objects > 0 ? DIFFERENCE_GROWN : DIFFERENCE_SHRUNK;
	return DIFFERENCE_SAME;
}

static void difference_add_site(struct difference *difference, struct difference_site *site)
{
	site->order = difference->site_count;
	difference->words[site->word]++;
	difference->rebuilt += site->is_rebuilt;
	difference->sites[difference->site_count++] = *site;
}

static void difference_add_estimated(struct difference *difference, struct difference_site *site,
				     bool holds)
{
	site->estimated &= isfinite(site->since.low) && isfinite(site->since.high);
	if (!holds && !(site->estimated && (site->since.low > 0 || site->since.value < 0)))
		return;
	site->word = DIFFERENCE_UNKNOWN;
	if (site->estimated) {
		site->word = site_word_estimated(site);
		site->growth_bytes = estimate_bytes(site->since.value);
		difference->since = interval_add(difference->since, site->since);
	}
	difference_add_site(difference, site);
}

static void difference_add(struct difference *difference, const struct part *part)
{
	size_t last = difference->profile_count - 1, i;
	struct difference_site site = part->site;
	bool holds = false;

	for (i = 0; i <= last; i++) {
		site.listed[i] = part->profiles & 1u << i;
		site.known[i] = site.listed[i] || !difference->profiles[i]->is_part;
		holds |= figures_hold(&site.figures[i]);
	}
	if (difference->windows) {
		difference_add_estimated(difference, &site, holds);
		return;
	}
	if (!holds)
		return;
	if (site.known[0] && site.known[last]) {
		site.growth_bytes = difference_of(profile_inuse_bytes(&site.figures[0]),
						  profile_inuse_bytes(&site.figures[last]));
		site.growth_objects = difference_of(profile_inuse_objects(&site.figures[0]),
						    profile_inuse_objects(&site.figures[last]));
	}
	if (last == 2 && !difference->births_known)
		site.retained =
			retained_limit(difference->profiles, site.figures, site.listed, site.known);
	site.retained.known |= last == 2 && difference->births_known;
	retained_add(&difference->retained, &site.retained);
	site.word = site_word(&site, last);
	difference_add_site(difference, &site);
}

/* What is equal stays in the order of the rows. */
static int difference_compare(const void *a, const void *b)
{
	const struct difference_site *left = a, *right = b;

	if (left->retained.low_bytes != right->retained.low_bytes)
		return left->retained.low_bytes > right->retained.low_bytes ? -1 : 1;
	if (left->retained.high_bytes != right->retained.high_bytes)
		return left->retained.high_bytes > right->retained.high_bytes ? -1 : 1;
	if (left->growth_bytes != right->growth_bytes)
		return left->growth_bytes > right->growth_bytes ? -1 : 1;
	if (left->growth_objects != right->growth_objects)
		return left->growth_objects > right->growth_objects ? -1 : 1;
	return compare_numbers(left->order, right->order);
}

struct difference *difference_new(const struct profile *const *profiles, size_t count)
{
	struct difference *difference = memory_alloc(1, sizeof(*difference));
	struct comparison comparison = { .difference = difference, .seed = seed_new() };
	const struct profile_figures *first = &profiles[0]->totals,
				     *last = &profiles[count - 1]->totals;
	size_t i;

	difference->profiles = profiles;
	difference->profile_count = count;
	difference->windows = profiles[count - 1]->windows;
	difference->births_known = count == 3 && retained_has_births(profiles);
	comparison_add_all(&comparison);
	comparison_merge(&comparison);
	difference->sites = memory_alloc(comparison.count + 1, sizeof(*difference->sites));
	for (i = 0; i < comparison.count; i++)
		if (!comparison.parts[i].is_merged)
			difference_add(difference, &comparison.parts[i]);
	qsort(difference->sites, difference->site_count, sizeof(*difference->sites),
	      difference_compare);
	difference->growth_bytes =
		difference_of(profile_inuse_bytes(first), profile_inuse_bytes(last));
	difference->growth_objects =
		difference_of(profile_inuse_objects(first), profile_inuse_objects(last));
	if (difference->windows) {
		difference->growth_bytes = estimate_bytes(difference->since.value);
		difference->growth_objects = 0;
	}
	table_free(&comparison.by_hash);
	free(comparison.parts);
	return difference;
}

void difference_free(struct difference *difference)
{
	if (!difference)
		return;
	free(difference->sites);
	free(difference);
}
