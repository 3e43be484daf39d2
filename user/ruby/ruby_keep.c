/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_keep.h. */
#include "ruby/ruby_keep.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"

/* Of a slot: a hash, and bits. 0 = no live object. */
#define KEEP_BORN (1u << 31) /* after the first census */
#define KEEP_RETAINED (1u << 30)
#define KEEP_HASH (KEEP_RETAINED - 1)

/* Words of an object that are in its hash: class, and what follows. */
#define KEEP_WORDS 5

struct keep_page {
	uint64_t body;
	uint32_t start, slot_size, total_slots;
	uint32_t slots[];
};

struct ruby_keep {
	struct table now, before; /* address of a page -> struct keep_page, owned */
	struct keep_page *page, *page_before; /* of which slots are put; page_before may be NULL */
	uint64_t censuses;
};

struct ruby_keep *ruby_keep_new(void)
{
	return memory_alloc(1, sizeof(struct ruby_keep));
}

static void keep_forget(struct table *pages)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(pages, &cursor)))
		free(slot->value);
	table_free(pages);
}

void ruby_keep_free(struct ruby_keep *keep)
{
	if (!keep)
		return;
	keep_forget(&keep->now);
	keep_forget(&keep->before);
	free(keep);
}

void ruby_keep_begin(struct ruby_keep *keep)
{
	keep_forget(&keep->before);
	keep->before = keep->now;
	keep->now = (struct table){ 0 };
	keep->page = keep->page_before = NULL;
	keep->censuses++;
}

void ruby_keep_page(struct ruby_keep *keep, const struct ruby_page *page)
{
	struct keep_page *before = table_get(&keep->before, page->body);

	free(table_remove(&keep->now, page->body));
	keep->page = memory_alloc(1, sizeof(*keep->page) +
					     page->total_slots * sizeof(keep->page->slots[0]));
	keep->page->body = page->body;
	keep->page->start = page->start;
	keep->page->slot_size = page->slot_size;
	keep->page->total_slots = page->total_slots;
	table_put(&keep->now, page->body, keep->page);
	/* A page that was freed and made again may have slots of another size. */
	if (before && (before->start != page->start || before->slot_size != page->slot_size))
		before = NULL;
	keep->page_before = before;
}

static uint32_t keep_hash(const struct ruby_slot *slot)
{
	uint64_t hash = hash_word(HASH_BEGIN, slot->type);
	uint32_t i;

	for (i = 1; i < KEEP_WORDS; i++)
		hash = hash_word(hash, ruby_slots_word(slot, i * 8));
	hash &= KEEP_HASH;
	return hash ? (uint32_t)hash : 1;
}

bool ruby_keep_put(struct ruby_keep *keep, uint32_t index, const struct ruby_slot *slot)
{
	const struct keep_page *before = keep->page_before;
	uint32_t kept = keep_hash(slot), last;

	if (!keep->page || index >= keep->page->total_slots)
		return false;
	last = before && index < before->total_slots ? before->slots[index] : 0;
	if ((last & KEEP_HASH) == kept)
		kept |= last & KEEP_BORN ? KEEP_BORN | KEEP_RETAINED : 0;
	else if (keep->censuses > 1)
		kept |= KEEP_BORN;
	keep->page->slots[index] = kept;
	return kept & KEEP_RETAINED;
}

bool ruby_keep_has(const struct ruby_keep *keep, uint64_t address)
{
	static const uint64_t sizes[] = { 0x4000, 0x10000 };
	const struct keep_page *page = NULL;
	uint64_t offset, index;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !page; i++) {
		page = table_get(&keep->now, address & ~(sizes[i] - 1));
		if (page && address - page->body >= sizes[i])
			page = NULL;
	}
	if (!page || address < page->body + page->start)
		return false;
	offset = address - page->body - page->start;
	index = offset / page->slot_size;
	return !(offset % page->slot_size) && index < page->total_slots &&
	       page->slots[index] & KEEP_RETAINED;
}
