/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See settled.h. docs/verdicts.md has the rules. */
#include "verdict/settled.h"

#include <stdlib.h>

#include "base/memory.h"

#define SECOND 1000000000ULL

/* Nothing is sure sooner. */
#define LEAST_NS (30 * SECOND)
/* Of what only grows nobody can know more than that, however long it is looked at: after so long it is enough. */
#define GROWING_NS (300 * SECOND)
/* A row matters if it has this part of what is in use, or more. */
#define MATTERS_PART 100
/* What does not grow does not rise by more than this part. */
#define RISE_MOST 0.25

struct settled_row {
	enum verdict_word word; /* settled; VERDICT_NONE = none yet */
	uint64_t since_ns;
	struct verdict basis; /* the last one that had this word */
	enum verdict_word candidate; /* what looks give now, if that is another one */
	uint64_t candidate_ns; /* since then */
	size_t looks; /* so many */
};

/* What is in use does not grow. */
static bool settled_is_level(enum verdict_word word)
{
	return word >= VERDICT_TEMPORARY && word <= VERDICT_CACHE;
}

/* More is in use than when it was last seen that it does not grow: in steps, of which no line can be drawn. */
static bool settled_has_risen(const struct verdict *now, const struct verdict *basis)
{
	return (double)now->inuse_bytes > (1 + RISE_MOST) * (double)basis->inuse_bytes;
}

/*
 * Does what is seen now exclude what was found before? That it grows, and that nothing is known, exclude no leak: they claim less. Nothing
 * is forgotten, so UNCLEAR replaces no word; but that it does not grow where it has, and in windows, where UNCLEAR may be of what certainly
 * grows, such as of a cache of which some blocks stay.
 */
static bool settled_excludes(const struct verdict *now, const struct settled_row *row)
{
	const enum verdict_word before = row->word;

	if (now->word == VERDICT_UNKNOWN && settled_is_level(before))
		return now->estimated ? now->growth.low > 0 : settled_has_risen(now, &row->basis);
	if (now->word == VERDICT_NONE || now->word == VERDICT_UNKNOWN)
		return before == VERDICT_NONE;
	return before != VERDICT_LEAK || now->word != VERDICT_GROWING;
}

/* For how long all looks must have given a word until it replaces another one. */
static uint64_t settled_hold_ns(const struct settled *settled, enum verdict_word now,
				enum verdict_word before)
{
	uint64_t time_ns = settled->time_ns - settled->start_ns, hold_ns;

	if (before == VERDICT_NONE || before == VERDICT_UNKNOWN)
		hold_ns = 2 * SECOND + time_ns / 20;
	else if (settled_is_level(now) && settled_is_level(before))
		hold_ns = 10 * SECOND + time_ns / 4;
	else
		hold_ns = 4 * SECOND + time_ns / 8;
	return settled->windows ? 2 * hold_ns : hold_ns;
}

static void settled_set(struct settled *settled, struct settled_row *row, enum verdict_word word,
			bool matters)
{
	row->word = word;
	row->since_ns = row->candidate_ns;
	row->looks = 0;
	settled->changes += matters;
}

/* A look has another word than the one that the row has settled on. */
static void settled_doubt(struct settled *settled, struct settled_row *row,
			  const struct verdict *verdict, bool matters)
{
	const enum verdict_word word = verdict->word;

	if (!row->looks || row->candidate != word) {
		row->candidate = word;
		row->candidate_ns = settled->time_ns;
		row->looks = 0;
	}
	row->looks++;
	if (settled_excludes(verdict, row) && row->looks >= 3 &&
	    settled->time_ns - row->candidate_ns >= settled_hold_ns(settled, word, row->word))
		settled_set(settled, row, word, matters);
}

static uint64_t settled_less(uint64_t number, uint64_t less)
{
	return number > less ? number - less : 0;
}

/* So long it takes at least. */
static uint64_t settled_least_ns(const struct settled *settled)
{
	return settled_less((settled->windows ? 2 : 1) * LEAST_NS,
			    settled->time_ns - settled->start_ns);
}

/* What does not grow may begin to: half of the time must have shown that it does not, which it has for `had_ns`. After so long it has. */
static uint64_t settled_level_ns(const struct settled *settled, uint64_t had_ns)
{
	return settled_less(settled->time_ns - settled->start_ns, 2 * had_ns);
}

/* Can a row become sure, if all stays as it is? Then after so long. */
static bool settled_can_be_sure(const struct settled *settled, const struct settled_row *row,
				const struct verdict *verdict, uint64_t *ret_ns)
{
	const uint64_t had_ns = settled->time_ns - row->since_ns;
	const uint64_t factor = settled->windows ? 2 : 1;
	uint64_t rest_ns;

	if (row->word == VERDICT_LEAK)
		rest_ns = settled_less(factor * 5 * SECOND, had_ns);
	else if (row->word == VERDICT_GROWING && verdict->word == VERDICT_GROWING)
		rest_ns = settled_less(factor * GROWING_NS, had_ns);
	else if (settled_is_level(row->word) && settled_is_level(verdict->word))
		rest_ns = settled_level_ns(settled, had_ns);
	else
		return false;
	*ret_ns = settled_least_ns(settled);
	if (rest_ns > *ret_ns)
		*ret_ns = rest_ns;
	return true;
}

static struct settled_row *settled_row(struct settled *settled, uint64_t id)
{
	struct settled_row *row = table_get(&settled->rows, id);

	if (row || settled->rows.count == SETTLED_ROWS_MAX)
		return row;
	row = memory_alloc(1, sizeof(*row));
	table_put(&settled->rows, id, row);
	return row;
}

static void settled_count(struct settled *settled, const struct verdict *verdict, bool matters,
			  uint64_t inuse_bytes)
{
	struct settled_sum *sum = &settled->words[verdict->word];

	settled->bytes += inuse_bytes;
	if (inuse_bytes) {
		sum->rows++;
		sum->bytes += inuse_bytes;
	}
	settled->matter += matters;
	if (!matters || verdict->is_sure)
		return;
	settled->open++;
	if (verdict->wait_ns > settled->wait_ns)
		settled->wait_ns = verdict->wait_ns;
}

/* What the row has settled on, with the growth and the size of now. */
static struct verdict settled_verdict(const struct settled *settled, const struct settled_row *row,
				      const struct verdict *verdict)
{
	struct verdict result = row->word == VERDICT_NONE ? *verdict : row->basis;
	uint64_t rest_ns;

	if (row->word == VERDICT_NONE)
		result.word = VERDICT_UNKNOWN;
	result.growth = verdict->growth;
	result.r2 = verdict->r2;
	result.inuse_bytes = verdict->inuse_bytes;
	result.inuse_objects = verdict->inuse_objects;
	result.time_ns = verdict->time_ns;
	result.is_watched = true;
	result.wait_ns = verdict->wait_ns ? verdict->wait_ns : verdict->level_ns;
	/* Now it has another word, on which it settles if that stays. */
	if (!result.wait_ns && row->looks && settled_excludes(verdict, row))
		result.wait_ns = settled_less(settled_hold_ns(settled, verdict->word, row->word),
					      settled->time_ns - row->candidate_ns);
	if (result.wait_ns && result.wait_ns < settled_least_ns(settled))
		result.wait_ns = settled_least_ns(settled);
	if (settled_can_be_sure(settled, row, verdict, &rest_ns)) {
		result.is_sure = !rest_ns;
		result.wait_ns = rest_ns;
	}
	return result;
}

void settled_begin(struct settled *settled, uint64_t start_ns, uint64_t time_ns)
{
	size_t word;

	const bool anything = settled->matter || !settled->time_ns;

	settled->start_ns = start_ns;
	settled->time_ns = time_ns > start_ns ? time_ns : start_ns;
	if (anything)
		settled->nothing_ns = settled->time_ns;
	settled->heaps_may_grow = false;
	settled->bytes_before = settled->bytes;
	settled->bytes = 0;
	settled->open = settled->matter = 0;
	settled->wait_ns = 0;
	for (word = 0; word < VERDICT_WORDS; word++)
		settled->words[word] = (struct settled_sum){ 0 };
}

struct verdict settled_see(struct settled *settled, uint64_t id, const struct verdict *verdict,
			   uint64_t inuse_bytes)
{
	const bool matters = inuse_bytes && inuse_bytes >= settled->bytes_before / MATTERS_PART;
	struct settled_row *row;
	struct verdict result = *verdict;

	if (verdict->word == VERDICT_NONE)
		return result;
	row = settled_row(settled, id);
	if (row) {
		if (row->word == verdict->word)
			row->looks = 0;
		else
			settled_doubt(settled, row, verdict, matters);
		if (row->word == verdict->word)
			row->basis = *verdict;
		result = settled_verdict(settled, row, verdict);
	}
	settled_count(settled, &result, matters, inuse_bytes);
	return result;
}

/* No row matters: until it is sure that none will, so long. */
static uint64_t settled_nothing_ns(const struct settled *settled)
{
	const uint64_t least_ns = settled_least_ns(settled);
	const uint64_t level_ns = settled_level_ns(settled, settled->time_ns - settled->nothing_ns);

	return level_ns > least_ns ? level_ns : least_ns;
}

bool settled_is_sure(const struct settled *settled)
{
	if (settled->matter)
		return !settled->open;
	return settled->time_ns && !settled->heaps_may_grow && !settled_nothing_ns(settled);
}

uint64_t settled_wait_ns(const struct settled *settled)
{
	if (settled->matter)
		return settled->wait_ns;
	return settled->heaps_may_grow ? 0 : settled_nothing_ns(settled);
}

void settled_free(struct settled *settled)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&settled->rows, &cursor)))
		free(slot->value);
	table_free(&settled->rows);
	*settled = (struct settled){ 0 };
}
