/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See strings.h. */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"

struct kept_string {
	struct kept_string *next; /* with the same hash */
	char text[];
};

const char *strings_keep(struct strings *strings, const char *text)
{
	struct kept_string *first, *kept;
	uint64_t hash;
	size_t size;

	if (!text || !*text)
		return NULL;
	if (!strings->seed)
		strings->seed = seed_new();
	hash = hash_string(strings->seed, text);
	first = table_get(&strings->by_hash, hash);
	for (kept = first; kept; kept = kept->next)
		if (!strcmp(kept->text, text))
			return kept->text;
	size = strlen(text) + 1;
	kept = memory_alloc(1, sizeof(*kept) + size);
	kept->next = first;
	memcpy(kept->text, text, size);
	table_put(&strings->by_hash, hash, kept);
	return kept->text;
}

void strings_free(struct strings *strings)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&strings->by_hash, &cursor))) {
		struct kept_string *kept = slot->value, *next;

		for (; kept; kept = next) {
			next = kept->next;
			free(kept);
		}
	}
	table_free(&strings->by_hash);
	*strings = (struct strings){ 0 };
}
