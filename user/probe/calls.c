/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Direct calls of a function: see calls.h. */
#include "probe/calls.h"

#include "probe/flow.h"

static bool flow_goes_elsewhere(const struct flow *flow)
{
	return flow->direct &&
	       (flow->kind == FLOW_CALL || flow->kind == FLOW_JUMP || flow->kind == FLOW_BRANCH);
}

bool calls_any(const uint8_t *code, size_t size, bool (*wanted)(void *context, int64_t target),
	       void *context)
{
	struct flow_decoder decoder;
	const char *reason;
	bool found = false;
	struct flow flow;
	size_t at = 0;

	if (flow_open(&decoder, &reason))
		for (; !found && flow_decode(&decoder, code + at, size - at, at, &flow);
		     at += flow.size)
			if (flow_goes_elsewhere(&flow))
				found = wanted(context, (int64_t)flow.target);
	flow_close(&decoder);
	return found;
}

/* Of code that a function goes on to. */
#define BEYOND_BYTES 192

/* A function, or code that it goes on to: file offsets. */
struct way_back {
	struct elf_file *file;
	uint64_t entry; /* of the function */
	uint64_t at; /* of the code */
	size_t size; /* of the function; 0 = ways are not followed further */
};

static bool way_back_is_found(void *context, int64_t target)
{
	const struct way_back *way = context;
	struct way_back beyond = { .entry = way->entry, .at = way->at + (uint64_t)target };
	uint8_t code[BEYOND_BYTES];
	size_t size;

	if (beyond.at == way->entry)
		return true;
	if (beyond.at - way->entry < way->size || !way->size)
		return false;
	size = elf_file_read(way->file, beyond.at, code, sizeof(code));
	return calls_any(code, size, way_back_is_found, &beyond);
}

bool calls_itself(struct elf_file *file, uint64_t entry, const uint8_t *code, size_t size)
{
	struct way_back way = { .file = file, .entry = entry, .at = entry, .size = size };

	return calls_any(code, size, way_back_is_found, &way);
}
