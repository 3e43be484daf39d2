/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The render function of each format, for the table in render.c alone. */
#ifndef RENDER_FORMATS_H
#define RENDER_FORMATS_H

#include "render/render.h"

void render_text(const struct report *report, const struct render_options *options,
		 struct buffer *out);
void render_json(const struct report *report, const struct render_options *options,
		 struct buffer *out);
void render_folded(const struct report *report, const struct render_options *options,
		   struct buffer *out);

#endif
