/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of blocks since the census before. A block at the same address, of the same size and kind, is the same one; if it does
 * not begin as it did, it was written to, or freed and allocated again in between: from outside that is the same.
 */
#include "kinds/kind_private.h"

#include <stdlib.h>

#include "base/memory.h"

/* Two censuses that are compared. */
struct kind_pair {
	struct kind_census *now;
	const struct kind_census *before;
	uint64_t every; /* of the smaller sample, which both have */
	struct kind_row **rows; /* those of `before` in `now`; NULL = not looked for so far */
};

static struct kind_row *follow_row(struct kind_census *census, uint32_t index)
{
	return index < census->row_count ? census->rows[index] : &census->rest;
}

/* The row that a kind of the census before has in this one. */
static struct kind_row *follow_row_before(struct kind_pair *pair, uint32_t index)
{
	const struct kind_row *row;

	if (index >= pair->before->row_count)
		return &pair->now->rest;
	row = pair->before->rows[index];
	if (!pair->rows[index])
		pair->rows[index] = kind_census_row(
			pair->now,
			&(struct kind_key){ row->kind, strings_keep(&pair->now->names, row->name),
					    strings_keep(&pair->now->names, row->holder),
					    row->size });
	return pair->rows[index];
}

static void follow_born(struct kind_pair *pair, const struct kind_block *block)
{
	if (kind_census_takes(block->address, pair->every))
		follow_row(pair->now, block->row)->born += pair->every;
}

static void follow_gone(struct kind_pair *pair, const struct kind_block *block)
{
	if (kind_census_takes(block->address, pair->every))
		follow_row_before(pair, block->row)->gone += pair->every;
}

/* Who holds a block may change. */
static bool follow_is_kind(const struct kind_row *row, const struct kind_row *old)
{
	return row == old ||
	       (row->kind == old->kind && row->name == old->name && row->size == old->size);
}

/*
 * Another holder was found than before: the block counts as of its row then, too. Otherwise one row
 * would grow by what the other has lost.
 */
static void follow_holder(struct kind_pair *pair, struct kind_row *row, struct kind_row *before,
			  uint64_t bytes)
{
	const uint64_t every = pair->every;

	if (row == before || before->blocks_before < every || before->bytes_before < every * bytes)
		return;
	before->blocks_before -= every;
	before->bytes_before -= every * bytes;
	row->blocks_before += every;
	row->bytes_before += every * bytes;
}

/* Both are at one address. */
static void follow_both(struct kind_pair *pair, struct kind_block *block,
			const struct kind_block *old)
{
	struct kind_row *row = follow_row(pair->now, block->row);
	struct kind_row *before = follow_row_before(pair, old->row);

	if (block->bytes != old->bytes || !follow_is_kind(row, before)) {
		follow_gone(pair, old);
		follow_born(pair, block);
		return;
	}
	if (!kind_census_takes(block->address, pair->every))
		return;
	follow_holder(pair, row, before, block->bytes);
	if (block->hash != old->hash) {
		row->written += pair->every;
		block->born = 0;
		return;
	}
	row->unchanged += pair->every;
	block->born = old->born;
	if (block->born > 1)
		row->retained += pair->every;
}

static void follow_blocks(struct kind_pair *pair)
{
	const struct kind_blocks *before = &pair->before->list;
	struct kind_blocks *now = &pair->now->list;
	size_t i = 0, n = 0;

	while (i < now->count || n < before->count)
		if (n >= before->count ||
		    (i < now->count && now->items[i].address < before->items[n].address))
			follow_born(pair, &now->items[i++]);
		else if (i >= now->count || now->items[i].address > before->items[n].address)
			follow_gone(pair, &before->items[n++]);
		else
			follow_both(pair, &now->items[i++], &before->items[n++]);
}

void kind_census_follow(struct kind_census *census, const struct kind_census *before)
{
	struct kind_pair pair = { .now = census, .before = before };
	size_t i;

	pair.every = census->every > before->every ? census->every : before->every;
	pair.rows = memory_alloc(before->row_count + 1, sizeof(*pair.rows));
	census->rest.bytes_before = before->rest.bytes;
	census->rest.blocks_before = before->rest.blocks;
	for (i = 0; i < before->row_count; i++)
		if (before->rows[i]->blocks) {
			struct kind_row *row = follow_row_before(&pair, (uint32_t)i);

			row->blocks_before += before->rows[i]->blocks;
			row->bytes_before += before->rows[i]->bytes;
		}
	follow_blocks(&pair);
	census->is_followed = true;
	free(pair.rows);
}
