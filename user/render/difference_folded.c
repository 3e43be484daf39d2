/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See difference.h. */
#include "render/difference.h"
#include "render/difference_view.h"
#include "render/folded.h"

void render_difference_folded(const struct difference *difference,
			      const struct render_difference_options *options, struct buffer *out)
{
	const size_t top = options->top ? options->top : difference->site_count;
	struct folded folded = { 0 };
	struct difference_view view;
	size_t i;

	for (i = 0; i < difference->site_count && i < top; i++) {
		const struct difference_site *site = &difference->sites[i];

		if (site->growth_bytes <= 0)
			continue;
		difference_view_open(&view, site);
		folded_add_site(&folded, &view.site, (uint64_t)site->growth_bytes);
		difference_view_close(&view);
	}
	folded_write(&folded, &options->base, out);
}
