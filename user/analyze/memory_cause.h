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

/* Takes over `text` and `remedy`, which may be NULL; `cause` is static. */
void memory_cause_add(struct memory_report *report, const char *cause, uint64_t bytes, char *text,
		      char *remedy);

/* Append what the blocks of a kind are, and what holds them: "class app::Req, held by static M". */
void memory_cause_append_kind(const struct memory_kind *kind, struct buffer *text);

#endif
