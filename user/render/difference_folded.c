/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See difference.h. */
#include "render/difference.h"
#include "render/difference_view.h"
#include "render/folded.h"

/* Of three profiles, what is retained at least. */
static uint64_t difference_folded_bytes(const struct difference *difference,
					const struct difference_site *site)
{
	if (difference->profile_count == 3)
		return site->retained.low_bytes;
	return site->growth_bytes > 0 ? (uint64_t)site->growth_bytes : 0;
}

void render_difference_folded(const struct difference *difference,
			      const struct render_difference_options *options, struct buffer *out)
{
	const size_t top = options->top ? options->top : difference->site_count;
	struct folded folded = { 0 };
	struct difference_view view;
	uint64_t bytes;
	size_t i;

	for (i = 0; i < difference->site_count && i < top; i++) {
		const struct difference_site *site = &difference->sites[i];

		bytes = difference_folded_bytes(difference, site);
		if (!bytes)
			continue;
		difference_view_open(&view, site);
		folded_add_site(&folded, &view.site, bytes);
		difference_view_close(&view);
	}
	folded_write(&folded, &options->base, out);
}
