/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds words that may refer to a block in encoded form, as runtimes and programs store them.
 * Searched only for blocks that would be lost, and can only make these possibly lost.
 */
#ifndef REACH_REACH_CODE_H
#define REACH_REACH_CODE_H

#include "reach/reach_follow.h"
#include "reach/reach_roots.h"

/* X(symbol, text in reports) */
#define REACH_CODE_LIST(X)                                      \
	X(NONE, "")                                             \
	X(FIXNUM, "its address is in memory as a Ruby Integer") \
	X(DIGITS, "its address is in memory as a Python int")   \
	X(HIGH, "its address is in memory with a tag")          \
	X(NOT, "the complement of its address is in memory")    \
	X(UNALIGNED, "its address is in memory, not aligned")

enum reach_code {
#define REACH_CODE_ENUMERATOR(SYMBOL, text) REACH_CODE_##SYMBOL,
	REACH_CODE_LIST(REACH_CODE_ENUMERATOR)
#undef REACH_CODE_ENUMERATOR
		REACH_CODES,
};

const char *reach_code_text(enum reach_code code);

/*
 * Search for encoded references to lost candidates, in memory outside of these: found ones become
 * possibly lost, a leader with all that was lost through it. False if time ran out.
 */
bool reach_code_find(struct reach_candidates *candidates, const struct reach_roots *roots,
		     struct image *image);

#endif
