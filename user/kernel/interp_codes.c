/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_codes.h. */
#include "kernel/interp_codes.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

/* Far more than the stacks have that wait in the ring buffer at a time; the map has room for many times as many. */
#define CODES_KEPT 2048

struct interp_codes {
	int map;
	struct table kept; /* struct interp_code by content */
	uint64_t contents[CODES_KEPT]; /* of those that are kept, in a ring */
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

/* Keep a copy, in place of the one that was kept first: BPF programs make another one if they need it. */
static void codes_keep(struct interp_codes *codes, uint64_t content, struct interp_code *code)
{
	uint64_t *oldest = &codes->contents[codes->next];

	if (*oldest) {
		free(table_remove(&codes->kept, *oldest));
		bpf_map_delete_elem(codes->map, oldest);
	}
	*oldest = content;
	codes->next = (codes->next + 1) % CODES_KEPT;
	table_put(&codes->kept, content, code);
}

const struct interp_code *interp_codes_get(struct interp_codes *codes, uint64_t content)
{
	struct interp_code *code = table_get(&codes->kept, content);

	if (code)
		return code;
	code = memory_alloc(1, sizeof(*code));
	if (bpf_map_lookup_elem(codes->map, &content, code)) {
		free(code);
		return NULL;
	}
	codes_keep(codes, content, code);
	return code;
}
