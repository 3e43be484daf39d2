/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verdict in words. Pure. */
#ifndef VERDICT_VERDICT_CLAUSE_H
#define VERDICT_VERDICT_CLAUSE_H

#include "verdict/verdict.h"
#include "base/buffer.h"

/* The word for people: "LEAK", "WARM-UP". */
const char *verdict_clause_title(enum verdict_word word);

/*
 * Append the reason: "12 % of blocks never freed (95 %: 11 to 13), 4.1 MiB/min, R2 0.99". Appends
 * nothing without a verdict.
 */
void verdict_clause_append(const struct verdict *verdict, struct buffer *text);

#endif
