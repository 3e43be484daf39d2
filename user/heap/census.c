/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See census.h: what walks have in common. */
#include "heap/census.h"

#include "base/units.h"

/* Counters may be apart by this part of them: one large block is much of a small heap. */
#define USE_BLOCKS_PART 100
#define USE_BYTES_PART 20

void census_sink_unknown(const struct census_sink *sink, uint64_t start, uint64_t end)
{
	if (sink && sink->unknown && start < end)
		sink->unknown(sink->context, start, end);
}

bool census_refresh(struct image *image)
{
	return !image_is_over(image) && image_refresh(image);
}

static bool census_is_apart(uint64_t seen, uint64_t now, uint64_t part)
{
	uint64_t apart = seen > now ? seen - now : now - seen;

	return apart > (seen > now ? seen : now) / part;
}

void census_check_use(struct image *image, const struct census_use *seen,
		      const struct census_use *now, struct heap_totals *totals)
{
	char texts[4][UNITS_TEXT_MAX];

	if (image_is_over(image) || (!census_is_apart(seen->blocks, now->blocks, USE_BLOCKS_PART) &&
				     !census_is_apart(seen->bytes, now->bytes, USE_BYTES_PART)))
		return;
	if (now->blocks >= seen->blocks && now->bytes >= seen->bytes) {
		buffer_printf(&totals->remarks,
			      "%s: the heap has grown from %s to %s while it was walked: what is "
			      "new is not in these figures\n",
			      totals->allocator, units_format_size(seen->bytes, texts[0]),
			      units_format_size(now->bytes, texts[1]));
		return;
	}
	buffer_printf(&totals->remarks,
		      "%s: %s blocks of %s were in use as the walk came by, and %s of %s are at "
		      "its end: figures are rough\n",
		      totals->allocator, units_format_count(seen->blocks, texts[0]),
		      units_format_size(seen->bytes, texts[1]),
		      units_format_count(now->blocks, texts[2]),
		      units_format_size(now->bytes, texts[3]));
}
