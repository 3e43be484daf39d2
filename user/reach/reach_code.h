/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that may lead to a block in another form than its address, as runtimes and programs keep them. They are looked for only where a block
 * would be lost, and can only make it one that may be.
 */
#ifndef REACH_REACH_CODE_H
#define REACH_REACH_CODE_H

#include "reach/reach_follow.h"
#include "reach/reach_roots.h"

/* X(symbol, what a report has) */
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
 * Look for words that lead to candidates which are lost, in memory that is none of these: those that are found become possible, a leader with
 * all that was lost through it. False if there was no time for all memory.
 */
bool reach_code_find(struct reach_candidates *candidates, const struct reach_roots *roots,
		     struct image *image);

#endif
