/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_slots.h. */
#include "ruby/ruby_slots.h"

#include <string.h>

#define OLD_AGE 3u
#define AGE_SHIFT 5 /* in an object's flags */
#define BEFORE_SWEEP 1u
/* The first slot is behind the page's header. */
#define START_MAX 1280u
#define SLOT_SIZE_MAX 1280u
#define PART 4096u
#define DATA_EMBEDDED 2u
#define HAS_VARIABLES (1ull << 10)

static uint64_t slots_word_at(const unsigned char *bytes, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint32_t slots_half_at(const unsigned char *bytes, uint32_t offset)
{
	uint32_t half;

	memcpy(&half, bytes + offset, sizeof(half));
	return half;
}

static uint16_t slots_short_at(const unsigned char *bytes, uint32_t offset)
{
	uint16_t number;

	memcpy(&number, bytes + offset, sizeof(number));
	return number;
}

bool ruby_slots_open(const struct ruby_release *layout, const unsigned char *page_struct,
		     struct ruby_page *ret_page)
{
	struct ruby_page page = { .layout = layout, .bits = page_struct };
	uint64_t start = slots_word_at(page_struct, layout->start), mask = layout->page_size - 1;

	page.body = start & ~mask;
	page.start = start & mask;
	page.slot_size = layout->slot_size == RUBY_NO_OFFSET
				 ? RUBY_SLOT_SIZE
				 : slots_short_at(page_struct, layout->slot_size);
	page.total_slots = slots_short_at(page_struct, layout->total_slots);
	page.free_slots = slots_short_at(page_struct, layout->free_slots);
	page.before_sweep = slots_half_at(page_struct, layout->page_flags) & BEFORE_SWEEP;
	*ret_page = page;
	return page.body && !(start & 7) && page.start >= 8 && page.start <= START_MAX &&
	       page.slot_size && page.slot_size <= SLOT_SIZE_MAX &&
	       !(page.slot_size % RUBY_SLOT_SIZE) && page.free_slots <= page.total_slots &&
	       ruby_slots_end(&page) <= layout->page_size;
}

uint32_t ruby_slots_end(const struct ruby_page *page)
{
	return page->start + page->slot_size * page->total_slots;
}

/* How many collections it has survived; at most OLD_AGE. Objects without write barriers do not age. */
static unsigned int slots_age(const struct ruby_page *page, uint32_t bit, uint64_t flags)
{
	uint16_t ages = page->layout->age_bits;

	if (ages)
		return page->bits[ages + bit / 4] >> bit % 4 * 2 & 3u;
	return flags >> AGE_SHIFT & 3u;
}

/*
 * Before a page is swept its mark bits are those of the last marking. When it is swept, or marking begins, marks of all but old
 * objects are taken back: there, whoever has an age has survived the last collection.
 */
static enum ruby_state slots_state(const struct ruby_page *page, uint32_t bit, unsigned int age)
{
	if (page->bits[page->layout->mark_bits + bit / 8] >> bit % 8 & 1)
		return RUBY_LIVE;
	if (page->before_sweep)
		return RUBY_GARBAGE;
	return age ? RUBY_LIVE : RUBY_NEWBORN;
}

static bool slots_is_missing(const struct ruby_page *page, uint32_t offset)
{
	uint32_t part;

	for (part = offset / PART; part <= (offset + page->slot_size - 1) / PART; part++)
		if (page->missing >> part & 1)
			return true;
	return false;
}

void ruby_slots_get(const struct ruby_page *page, uint32_t index, struct ruby_slot *ret_slot)
{
	uint32_t offset = page->start + index * page->slot_size;
	const unsigned char *bytes = page->bytes + offset;
	unsigned int age;

	*ret_slot = (struct ruby_slot){
		.address = page->body + offset,
		.bytes = bytes,
		.size = page->slot_size,
	};
	if (page->missing && slots_is_missing(page, offset)) {
		ret_slot->state = RUBY_MISSING;
		return;
	}
	ret_slot->flags = slots_word_at(bytes, 0);
	ret_slot->class = slots_word_at(bytes, 8);
	ret_slot->type = (enum ruby_type)(ret_slot->flags & (RUBY_TYPES - 1));
	/* RUBY_FREE, which is 0. */
	if (ret_slot->type == RUBY_T_NONE || ret_slot->type == RUBY_T_MOVED)
		return;
	age = slots_age(page, offset / RUBY_SLOT_SIZE, ret_slot->flags);
	ret_slot->state = slots_state(page, offset / RUBY_SLOT_SIZE, age);
	ret_slot->old = ret_slot->state == RUBY_LIVE && age == OLD_AGE;
}

uint32_t ruby_slots_data_inside(const struct ruby_release *layout, const struct ruby_slot *slot)
{
	uint64_t typed = ruby_slots_word(slot, 24);

	return slot->type == RUBY_T_DATA && layout->tables_inside && typed <= 3 &&
			       typed & DATA_EMBEDDED
		       ? 32
		       : 0;
}

uint64_t ruby_slots_data(const struct ruby_release *layout, const struct ruby_slot *slot)
{
	/* Of data without a type this word is the function that frees it; without one it is not the object's. */
	return slot->type == RUBY_T_DATA && ruby_slots_word(slot, 24) &&
			       !ruby_slots_data_inside(layout, slot)
		       ? ruby_slots_word(slot, 32)
		       : 0;
}

bool ruby_slots_has_generic(const struct ruby_slot *slot)
{
	return slot->flags & HAS_VARIABLES && slot->type != RUBY_T_OBJECT &&
	       slot->type != RUBY_T_CLASS && slot->type != RUBY_T_MODULE &&
	       slot->type != RUBY_T_ICLASS && slot->type != RUBY_T_IMEMO;
}

const char *ruby_slots_type_name(enum ruby_type type)
{
	static const char *const names[RUBY_TYPES] = {
		[RUBY_T_NONE] = "T_NONE",	[RUBY_T_OBJECT] = "T_OBJECT",
		[RUBY_T_CLASS] = "T_CLASS",	[RUBY_T_MODULE] = "T_MODULE",
		[RUBY_T_FLOAT] = "T_FLOAT",	[RUBY_T_STRING] = "T_STRING",
		[RUBY_T_REGEXP] = "T_REGEXP",	[RUBY_T_ARRAY] = "T_ARRAY",
		[RUBY_T_HASH] = "T_HASH",	[RUBY_T_STRUCT] = "T_STRUCT",
		[RUBY_T_BIGNUM] = "T_BIGNUM",	[RUBY_T_FILE] = "T_FILE",
		[RUBY_T_DATA] = "T_DATA",	[RUBY_T_MATCH] = "T_MATCH",
		[RUBY_T_COMPLEX] = "T_COMPLEX", [RUBY_T_RATIONAL] = "T_RATIONAL",
		[RUBY_T_SYMBOL] = "T_SYMBOL",	[RUBY_T_IMEMO] = "T_IMEMO",
		[RUBY_T_NODE] = "T_NODE",	[RUBY_T_ICLASS] = "T_ICLASS",
		[RUBY_T_ZOMBIE] = "T_ZOMBIE",	[RUBY_T_MOVED] = "T_MOVED",
	};

	return names[type & (RUBY_TYPES - 1)];
}

const char *ruby_slots_internal_name(unsigned int kind)
{
	static const char *const names[] = {
		"env",	"cref",	  "svar", "throw_data",	    "ifunc",	"memo",	     "ment",
		"iseq", "tmpbuf", "ast",  "parser_strterm", "callinfo", "callcache", "constcache"
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}
