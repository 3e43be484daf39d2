/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences to bytes: text for people, JSON for programs, growth for flame graph tools. */
#ifndef RENDER_DIFFERENCE_H
#define RENDER_DIFFERENCE_H

#include "analyze/difference.h"
#include "render/render.h"

struct render_difference_options {
	struct render_options base; /* the schema has no meaning */
	size_t top; /* sites shown; 0 = all */
};

/* Append the whole difference to `out`. */
void render_difference_text(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out);
/* One object on one line. */
void render_difference_json(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out);
/* A line for each stack that has grown, with the bytes that it has grown by; of three profiles, that it has retained at least. */
void render_difference_folded(const struct difference *difference,
			      const struct render_difference_options *options, struct buffer *out);
/* The values of pprof, as the last profile's less the first one's. */
void render_difference_pprof(const struct difference *difference,
			     const struct render_difference_options *options, struct buffer *out);
/* What has grown and what has shrunk, each a figure of its own. */
void render_difference_speedscope(const struct difference *difference,
				  const struct render_difference_options *options,
				  struct buffer *out);
void render_difference_callgrind(const struct difference *difference,
				 const struct render_difference_options *options,
				 struct buffer *out);
/* A page for a browser. */
void render_html_difference(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out);

#endif
