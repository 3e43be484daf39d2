/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders reports of `tracer leaks`: text for people, JSON for programs. */
#ifndef RENDER_LEAKS_H
#define RENDER_LEAKS_H

#include "base/buffer.h"
#include "model/leak_report.h"
#include "model/leak_who.h"
#include "render/render.h"

/* `top`: groups shown in text; 0 = all. JSON has all. */
struct render_leaks_options {
	struct render_options base; /* schema and stacks are not used */
	size_t top;
};

/* Append the whole report to `out`. */
void render_leaks_text(const struct leak_report *report, const struct render_leaks_options *options,
		       struct buffer *out);
/* One object on one line. */
void render_leaks_json(const struct leak_report *report, const struct render_leaks_options *options,
		       struct buffer *out);

/* Only what points to a block: report->who. */
void render_leaks_who_text(const struct leak_report *report,
			   const struct render_leaks_options *options, struct buffer *out);
struct json_writer;
/* Write the member "who": null without --who. */
void render_leaks_who_json(const struct leak_who *who, struct json_writer *json);

#endif
