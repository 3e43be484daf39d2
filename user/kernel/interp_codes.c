/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_codes.h. */
#include "kernel/interp_codes.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

/* Far more than the stacks have that wait in the ring buffer at a time. */
#define CODES_KEPT 4096

struct interp_codes {
	int map;
	struct table kept; /* struct interp_code by key */
	uint64_t keys[CODES_KEPT]; /* of those that are kept, in a ring */
	size_t next; /* to be given up */
};

struct interp_codes *interp_codes_new(int map)
{
	struct interp_codes *codes = memory_alloc(1, sizeof(*codes));

	codes->map = map;
	return codes;
}

void interp_codes_free(struct interp_codes *codes)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	if (!codes)
		return;
	while ((slot = table_next(&codes->kept, &cursor)))
		free(slot->value);
	table_free(&codes->kept);
	free(codes);
}

/* Keep what the map has of a key, in place of what is kept. */
static void codes_take(struct interp_codes *codes, uint64_t key)
{
	struct interp_code *code = memory_alloc(1, sizeof(*code));

	if (bpf_map_lookup_elem(codes->map, &key, code)) {
		free(code);
		return;
	}
	bpf_map_delete_elem(codes->map, &key);
	if (table_get(&codes->kept, key)) {
		free(table_remove(&codes->kept, key));
	} else {
		free(table_remove(&codes->kept, codes->keys[codes->next]));
		codes->keys[codes->next] = key;
		codes->next = (codes->next + 1) % CODES_KEPT;
	}
	table_put(&codes->kept, key, code);
}

const struct interp_code *interp_codes_get(struct interp_codes *codes, uint64_t key)
{
	codes_take(codes, key);
	return table_get(&codes->kept, key);
}
