/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See peak.h. */
#include "verdict/peak.h"

static uint64_t peak_widen(uint64_t spacing_ns, uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t time_ns = to_ns > from_ns ? to_ns - from_ns : 0;

	return time_ns > spacing_ns ? time_ns : spacing_ns;
}

static void peak_in_history(struct peak *peak, const struct history *history, uint64_t start_ns,
			    uint64_t end_ns)
{
	peak->known = !history->is_full;
	peak->spacing_ns = peak_widen(history->widest_ns,
				      history->last_ns ? history->last_ns : start_ns, end_ns);
	if (history->peak_bytes <= peak->bytes)
		return;
	peak->is_last = false;
	peak->bytes = history->peak_bytes;
	peak->time_ns = history->peak_ns > start_ns ? history->peak_ns - start_ns : 0;
}

static void peak_in_timeline(struct peak *peak, const struct timeline *timeline)
{
	uint64_t before_ns = 0;
	size_t i;

	peak->known = !timeline->is_full;
	for (i = 0; i < timeline->count; i++) {
		const struct timeline_moment *moment = &timeline->moments[i];

		peak->spacing_ns = peak_widen(peak->spacing_ns, before_ns, moment->time_ns);
		before_ns = moment->time_ns;
		if (moment->bytes <= peak->bytes)
			continue;
		peak->is_last = false;
		peak->bytes = moment->bytes;
		peak->time_ns = moment->time_ns;
		peak->moment = i;
	}
}

struct peak peak_find(const struct peak_source *source, uint64_t bytes, uint64_t duration_ns)
{
	struct peak peak = { .is_last = true, .bytes = bytes, .time_ns = duration_ns };

	if (source->timeline)
		peak_in_timeline(&peak, source->timeline);
	else if (source->history)
		peak_in_history(&peak, source->history, source->start_ns,
				source->start_ns + duration_ns);
	return peak;
}

bool peak_of_row(const struct peak *peak, const struct peak_source *source,
		 const struct snapshot_site *row, uint64_t bytes, uint64_t *ret_bytes)
{
	*ret_bytes = bytes;
	if (!peak->known || peak->is_last)
		return peak->known;
	if (source->timeline)
		return timeline_row_at(source->timeline, row, peak->moment, ret_bytes);
	*ret_bytes = history_peak_of(source->history, row);
	return !row->ended;
}
