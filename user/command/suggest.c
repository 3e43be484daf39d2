/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Edit distance with swaps (optimal string alignment): see suggest.h. */
#include "command/suggest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX 63

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t suggest_distance(const char *from, const char *to)
{
	/* Row i of the table of distances between prefixes, and the two rows above it. */
	size_t table[3][WORD_MAX + 1];
	size_t from_length = strlen(from), to_length = strlen(to);
	size_t i, j;

	if (from_length > WORD_MAX || to_length > WORD_MAX)
		return SIZE_MAX;
	for (j = 0; j <= to_length; j++)
		table[0][j] = j;
	for (i = 1; i <= from_length; i++) {
		size_t *row = table[i % 3], *above = table[(i + 2) % 3],
		       *higher = table[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= to_length; j++) {
			row[j] = smaller(above[j], row[j - 1]) + 1;
			row[j] = smaller(row[j], above[j - 1] + (from[i - 1] != to[j - 1]));
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				row[j] = smaller(row[j], higher[j - 2] + 1);
		}
	}
	return table[from_length % 3][to_length];
}

const char *suggest_nearest(const char *typed, const char *const *words)
{
	/* A third of the letters may be wrong; of a very short word, one that leaves something right. */
	size_t best = strlen(typed) / 3 + 1;
	const char *nearest = NULL;

	if (strlen(typed) < 2)
		return NULL;
	for (; *words; words++) {
		size_t distance = suggest_distance(typed, *words);

		if (distance < best) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}
