/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See difference_view.h. */
#include "render/difference_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void difference_view_open(struct difference_view *view, const struct difference_site *site)
{
	const struct profile_row *row = site->row;
	struct report_frame *frames = memory_alloc(row->frame_count + 1, sizeof(*frames));
	size_t i;

	for (i = 0; i < row->frame_count; i++)
		frames[i] = *row->frames[i];
	*view = (struct difference_view){
		.site = { .target = &view->target,
			  .source = row->source,
			  .allocator = row->allocator,
			  .function = row->function,
			  .sampled = row->sampled,
			  .region = row->region,
			  .by_line = row->by_line,
			  .frames = frames,
			  .frame_count = row->frame_count,
			  .line = row->line < row->frame_count ? row->line : REPORT_NO_LINE },
		.target = { .pidfd = -1 },
	};
	strncpy(view->target.comm, row->program ? row->program : "", sizeof(view->target.comm) - 1);
}

void difference_view_close(struct difference_view *view)
{
	free(view->site.frames);
}
