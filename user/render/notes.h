/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a reader of a report in another tool's format must know beside its figures, as sentences: of what they are, what is estimated,
 * what is left out, what was lost. Formats put them where there is room for comments.
 */
#ifndef RENDER_NOTES_H
#define RENDER_NOTES_H

#include "analyze/difference.h"
#include "analyze/report.h"

/* Takes one sentence, which is safe text on one line, and lives until it returns. */
typedef void notes_take(void *context, const char *sentence);

void notes_of_report(const struct report *report, notes_take *take, void *context);
void notes_of_difference(const struct difference *difference, notes_take *take, void *context);

#endif
