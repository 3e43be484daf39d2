/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an HTML page shows beside the report in JSON: the history, the lines of the application, sentences. As JSON, too. */
#ifndef RENDER_HTML_MORE_H
#define RENDER_HTML_MORE_H

#include "render/render.h"

/*
 * One object on one line:
 * - "lost": is what is in use what is lost?
 * - "lines": of each listed site, which of its frames is the line of the application; null = none.
 * - "history": what was in use at moments, in seconds since tracing began; null = not known. "bytes" are totals; "sites" are pairs of
 *   a listed site and its changes, each a pair of a moment and the bytes in use from then on; null instead of changes = there was no room.
 * - "losses": what was lost, with sentences.
 */
void html_more_write(const struct report *report, const struct render_options *options,
		     struct buffer *out);

/* The same of a report on memory: "titles" of what its parts are for. */
void html_more_write_titles(struct buffer *out);

#endif
