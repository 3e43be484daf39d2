/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders differences: text for people, JSON for programs, growth for flame graph tools. */
#ifndef RENDER_DIFFERENCE_H
#define RENDER_DIFFERENCE_H

#include "analyze/difference.h"
#include "render/render.h"

struct render_difference_options {
	struct render_options base; /* the schema is not used */
	size_t top; /* sites shown; 0 = all */
};

/* Append the whole difference to `out`. */
void render_difference_text(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out);
/* One object on one line. */
void render_difference_json(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out);
/*
 * One line per grown stack, with its growth in bytes; with three profiles, the least that it has
 * retained.
 */
void render_difference_folded(const struct difference *difference,
			      const struct render_difference_options *options, struct buffer *out);
/* The values of pprof, of the last profile minus the first. */
void render_difference_pprof(const struct difference *difference,
			     const struct render_difference_options *options, struct buffer *out);
/* Growth and shrinkage as separate figures. */
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
