/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_code.h. */
#include "reach/reach_code.h"

#include <string.h>

#include "reach/reach_index.h"
#include "reach/reach_walk.h"

#define CODE_DIGIT 30 /* bits of a digit of Python's */
/* The word before the only digit of an int above 0: a count of digits, and from CPython 3.12 on a tag with the count above three bits. */
#define CODE_ONE_DIGIT 1
#define CODE_ONE_DIGIT_TAG (1 << 3)
#define CODE_ADDRESS ((1ull << 48) - 1)

struct code_search {
	struct reach_candidates *candidates;
	const struct reach_roots *roots;
	struct reach_blocks lost;
	struct reach_index index;
};

const char *reach_code_text(enum reach_code code)
{
	static const char *const texts[] = {
#define CODE_TEXT(SYMBOL, text) text,
		REACH_CODE_LIST(CODE_TEXT)
#undef CODE_TEXT
	};

	return texts[code];
}

/* Does anybody read the memory at `place`, that is not lost itself? */
static bool code_is_live(const struct code_search *search, uint64_t place)
{
	return reach_index_find(&search->index, place) == REACH_NO_BLOCK &&
	       (reach_roots_of(search->roots, place) < LEAK_ROOTS_LIVE ||
		reach_roots_of(search->roots, place) == LEAK_ROOT_FREE);
}

static void code_try(struct code_search *search, uint64_t word, uint64_t place,
		     enum reach_code code)
{
	uint32_t found = reach_index_find(&search->index, word);
	struct reach_candidate *candidate;

	if (found == REACH_NO_BLOCK || search->lost.items[found].address != word ||
	    !code_is_live(search, place))
		return;
	candidate = reach_candidates_find(search->candidates, word);
	if (candidate)
		candidate->encoded = (uint8_t)code;
}

/* A word at `place`, behind `before`. */
static void code_try_word(struct code_search *search, uint64_t before, uint64_t word,
			  uint64_t place)
{
	uint64_t low = word & ((1ull << 32) - 1), high = word >> 32;

	if (word & 1)
		code_try(search, word >> 1, place, REACH_CODE_FIXNUM);
	if (word >> 48) {
		code_try(search, word & CODE_ADDRESS, place, REACH_CODE_HIGH);
		code_try(search, ~word, place, REACH_CODE_NOT);
	}
	if (low >> CODE_DIGIT == 0 && high >> CODE_DIGIT == 0)
		code_try(search, low | high << CODE_DIGIT, place, REACH_CODE_DIGITS);
	/* An address of one digit, as in programs that are not position-independent: what follows it is of nobody. */
	if (low >> CODE_DIGIT == 0 && (before == CODE_ONE_DIGIT || before == CODE_ONE_DIGIT_TAG))
		code_try(search, low, place, REACH_CODE_DIGITS);
}

static void code_piece(void *context, uint64_t place, const unsigned char *bytes, size_t length)
{
	struct code_search *search = context;
	const uint64_t low = search->index.low, span = search->index.span;
	uint64_t word, before = 0;
	size_t at;

	for (at = 0; at + sizeof(word) <= length; at++) {
		memcpy(&word, bytes + at, sizeof(word));
		if (at % sizeof(word) == 0) {
			code_try_word(search, before, word, place + at);
			before = word;
		} else if (word - low <= span) {
			code_try(search, word, place + at, REACH_CODE_UNALIGNED);
		}
	}
}

/* A leader that may be held takes what was lost through it along. */
static void code_apply(struct reach_candidates *candidates)
{
	const struct reach_candidate *leader;
	size_t i;

	for (i = 0; i < candidates->count; i++) {
		struct reach_candidate *item = &candidates->items[i];

		leader = item->leader ? reach_candidates_find(candidates, item->leader) : NULL;
		if (leader && leader->encoded && !item->encoded)
			item->encoded = leader->encoded;
		if (leader && item->encoded)
			item->verdict = LEAK_POSSIBLE;
	}
	for (i = 0; i < candidates->count; i++)
		if (candidates->items[i].verdict == LEAK_POSSIBLE)
			candidates->items[i].leader = 0;
}

bool reach_code_find(struct reach_candidates *candidates, const struct reach_roots *roots,
		     struct image *image)
{
	struct code_search search = { .candidates = candidates, .roots = roots };
	const struct reach_walk_sink sink = { code_piece, &search };
	struct reach_walk_left left;
	bool has_all = true;
	size_t i;

	for (i = 0; i < candidates->count; i++)
		if (candidates->items[i].leader)
			reach_blocks_add(&search.lost, candidates->items[i].address,
					 candidates->items[i].size);
	reach_blocks_settle(&search.lost);
	reach_index_fill(&search.index, &search.lost);
	if (search.lost.count)
		has_all = reach_walk(image, REACH_UPWARD, &sink, &left);
	code_apply(candidates);
	reach_index_free(&search.index);
	reach_blocks_free(&search.lost);
	return has_all;
}
