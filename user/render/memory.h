/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders reports of `tracer memory`: text for people, JSON for programs. */
#ifndef RENDER_MEMORY_H
#define RENDER_MEMORY_H

#include "base/buffer.h"
#include "model/memory_report.h"
#include "render/render.h"

/* `top`: rows of kinds and classes shown in text; 0 = all. JSON has all. */
struct render_memory_options {
	struct render_options base; /* schema and stacks are not used */
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
