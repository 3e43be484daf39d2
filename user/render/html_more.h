/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Additional data of an HTML page, beside the JSON report: history, lines of the application,
 * sentences. In JSON, too.
 */
#ifndef RENDER_HTML_MORE_H
#define RENDER_HTML_MORE_H

#include "render/difference.h"
#include "render/render.h"

/*
 * One object on one line:
 *
 * - "lost": are the in-use figures lost blocks?
 *
 * - "words", "regions": what text calls verdicts and regions, by their names in JSON.
 *
 * - "lines": for each listed site, its subject in text: the index of a frame, or without a frame
 * the text.
 *
 * - "history": memory in use at moments, in seconds since tracing began; null = unknown. "bytes"
 * are totals; "sites" are pairs of a listed site and its changes, each a pair of a moment and the
 * bytes in use from then on; null instead of changes = dropped for lack of room.
 *
 * - "losses": losses, with sentences.
 */
void html_more_write(const struct report *report, const struct render_options *options,
		     struct buffer *out);

/* "words", "regions" and "lines" of a difference. */
void html_more_write_difference(const struct difference *difference,
				const struct render_difference_options *options,
				struct buffer *out);

/* The same for a report on memory: "titles" of purposes. */
void html_more_write_titles(struct buffer *out);

#endif
