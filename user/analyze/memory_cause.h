/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cause of a process's size, as a sentence of the verdict: whether it matters, and adding it. */
#ifndef ANALYZE_MEMORY_CAUSE_H
#define ANALYZE_MEMORY_CAUSE_H

#include "base/units.h"
#include "model/memory_report.h"

/* What is less than this matters to nobody. */
#define MEMORY_CAUSE_MIN (1ull << 20)

typedef char size_text[UNITS_TEXT_MAX];

/* Is `bytes` at least `percent` of the memory that the report is about, and no less than MEMORY_CAUSE_MIN? */
bool memory_cause_matters(const struct memory_report *report, uint64_t bytes, unsigned int percent);

/* Sizes as a sentence has them, which may name two. */
typedef char share_text[2 * UNITS_TEXT_MAX + 16];

/*
 * What the report is about: "245.8 MiB RSS", or of several processes "245.8 MiB RSS (126.8 MiB PSS)", in which what they share counts
 * once, where that is known. Returns `text`.
 */
const char *memory_cause_format_whole(const struct memory_report *report, share_text text);

/* Of it, a part with that RSS and PSS: "60.0 MiB", or of several processes "60.0 MiB (30.1 MiB PSS)". Returns `text`. */
const char *memory_cause_format_share(const struct memory_report *report, uint64_t rss,
				      uint64_t pss, share_text text);

/* Takes over `text` and `remedy`, which may be NULL; `cause` is static. */
void memory_cause_add(struct memory_report *report, const char *cause, uint64_t bytes, char *text,
		      char *remedy);

/* Append what the blocks of a kind are, and what holds them: "class app::Req, held by static M". */
void memory_cause_append_kind(const struct memory_kind *kind, struct buffer *text);

#endif
