/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes of a process's size, as sentences of the verdict: deciding whether one matters, and adding
 * it.
 */
#ifndef VERDICT_MEMORY_CAUSE_H
#define VERDICT_MEMORY_CAUSE_H

#include "base/units.h"
#include "model/memory_report.h"

/* Bytes; anything smaller is ignored. */
#define MEMORY_CAUSE_MIN (1ull << 20)

typedef char size_text[UNITS_TEXT_MAX];

/* Is `bytes` at least `percent` of the reported memory, and at least MEMORY_CAUSE_MIN? */
bool memory_cause_matters(const struct memory_report *report, uint64_t bytes, unsigned int percent);

/* Room for a size in a sentence, with a second one in parentheses. */
typedef char share_text[2 * UNITS_TEXT_MAX + 16];

/*
 * The total of the report: "245.8 MiB RSS", or for several processes "245.8 MiB RSS (126.8 MiB
 * PSS)", where PSS, if known, counts shared memory once. Returns `text`.
 */
const char *memory_cause_format_whole(const struct memory_report *report, share_text text);

/*
 * A part of the total: "60.0 MiB", or for several processes "60.0 MiB (30.1 MiB PSS)". Returns
 * `text`.
 */
const char *memory_cause_format_share(const struct memory_report *report, uint64_t rss,
				      uint64_t pss, share_text text);

/* Add a cause. Takes ownership of `text` and `remedy` (may be NULL); `cause` is static. */
void memory_cause_add(struct memory_report *report, const char *cause, uint64_t bytes, char *text,
		      char *remedy);

/* Append what the blocks of a kind are, and their holder: "class app::Req, held by static M". */
void memory_cause_append_kind(const struct memory_kind *kind, struct buffer *text);

#endif
