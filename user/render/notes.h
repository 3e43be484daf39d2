/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sentences that readers of a report in another tool's format need: what the figures are, what is
 * estimated, left out or lost. Formats put them into comments.
 */
#ifndef RENDER_NOTES_H
#define RENDER_NOTES_H

#include "analyze/difference.h"
#include "analyze/report.h"

/* Receives one sentence, safe text on one line, valid during the call. */
typedef void notes_take(void *context, const char *sentence);

void notes_of_report(const struct report *report, notes_take *take, void *context);
void notes_of_difference(const struct difference *difference, notes_take *take, void *context);

#endif
