/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of `tracer memory` to bytes: text for people, JSON for programs. */
#ifndef RENDER_MEMORY_H
#define RENDER_MEMORY_H

#include "base/buffer.h"
#include "model/memory_report.h"
#include "render/render.h"

/* Rows of kinds and of classes that text shows; 0 = all. JSON has all rows. */
struct render_memory_options {
	struct render_options base; /* schema and stacks have no meaning */
	size_t top;
};

/* Append the whole report to `out`. */
void render_memory_text(const struct memory_report *report,
			const struct render_memory_options *options, struct buffer *out);
/* One object on one line. */
void render_memory_json(const struct memory_report *report,
			const struct render_memory_options *options, struct buffer *out);
/* A page for a browser. */
void render_html_memory(const struct memory_report *report,
			const struct render_memory_options *options, struct buffer *out);

#endif
