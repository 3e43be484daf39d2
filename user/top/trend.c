/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See trend.h. */
#include "top/trend.h"

#define LEVELS 8

static const char *trend_bar(size_t level, bool ascii)
{
	static const char *const blocks[LEVELS + 1] = {
		" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"
	};
	static const char *const plain[LEVELS + 1] = {
		" ", ".", ":", "-", "=", "+", "*", "#", "@"
	};

	return ascii ? plain[level] : blocks[level];
}

/* Whatever is in use has a bar. */
static size_t trend_level(uint64_t bytes, uint64_t most)
{
	size_t level = most ? (size_t)((unsigned __int128)bytes * LEVELS / most) : 0;

	return bytes && !level ? 1 : level;
}

static uint64_t trend_most(const struct history_point *points, size_t from, size_t to)
{
	uint64_t most = 0;
	size_t i;

	for (i = from; i < to; i++)
		if (points[i].bytes > most)
			most = points[i].bytes;
	return most;
}

void trend_append(struct buffer *out, const struct history_point *points, size_t count,
		  size_t width, bool ascii)
{
	const uint64_t most = trend_most(points, 0, count);
	const size_t blank = count < width ? width - count : 0, bars = width - blank;
	size_t i;

	for (i = 0; i < blank; i++)
		buffer_append_string(out, " ");
	for (i = 0; i < bars; i++) {
		const uint64_t bytes = trend_most(points, i * count / bars, (i + 1) * count / bars);

		buffer_append_string(out, trend_bar(trend_level(bytes, most), ascii));
	}
}
