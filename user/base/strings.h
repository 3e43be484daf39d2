/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pool of strings, each kept once: equal strings have one address. */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include "base/table.h"

/* {0} is an empty pool. Strings may come from outside: the hashes begin with a secret. */
struct strings {
	struct table by_hash; /* struct kept_string, chained */
	uint64_t seed; /* 0 = none yet */
};

/* The pool's copy of `text`, which lives as long as the pool; NULL for an empty text or NULL. */
const char *strings_keep(struct strings *strings, const char *text);

/* Free all strings and leave an empty pool. */
void strings_free(struct strings *strings);

#endif
