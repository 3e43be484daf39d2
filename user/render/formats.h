/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The render function of each format, for the table in render.c alone. */
#ifndef RENDER_FORMATS_H
#define RENDER_FORMATS_H

#include "render/render.h"

/* Bytes of output after which it is passed on while a report is made. */
#define RENDER_PIECE (64 << 10)

/* Call between two sites. False = skip the rest. */
static inline bool render_drain(const struct render_options *options, struct buffer *out)
{
	return !options->drain || out->length < RENDER_PIECE ||
	       options->drain(options->context, out);
}

void render_metrics(const struct report *report, const struct render_options *options,
		    struct buffer *out);
void render_text(const struct report *report, const struct render_options *options,
		 struct buffer *out);
void render_watch_text(const struct report *report, const struct render_options *options,
		       struct buffer *out);
void render_json(const struct report *report, const struct render_options *options,
		 struct buffer *out);
void render_folded(const struct report *report, const struct render_options *options,
		   struct buffer *out);
void render_pprof(const struct report *report, const struct render_options *options,
		  struct buffer *out);
void render_speedscope(const struct report *report, const struct render_options *options,
		       struct buffer *out);
void render_callgrind(const struct report *report, const struct render_options *options,
		      struct buffer *out);
void render_massif(const struct report *report, const struct render_options *options,
		   struct buffer *out);
void render_heaptrack(const struct report *report, const struct render_options *options,
		      struct buffer *out);
void render_jeprof(const struct report *report, const struct render_options *options,
		   struct buffer *out);
void render_svg(const struct report *report, const struct render_options *options,
		struct buffer *out);
void render_html(const struct report *report, const struct render_options *options,
		 struct buffer *out);

#endif
