/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files of targets in place of decode/decoder.c: those whose names end with FAKE_ALLOCATOR define malloc and free, others
 * nothing. Their probes lie behind what is mapped, so that nobody looks for them in the code of a process. A test that includes
 * this cannot use the real one.
 */
#ifndef TESTS_FAKE_DECODER_H
#define TESTS_FAKE_DECODER_H

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "decode/decoder.h"
#include "tracer_abi.h"

#define FAKE_ALLOCATOR "allocator.so"
#define FAKE_MALLOC 0x1000000u
#define FAKE_FREE 0x1001000u

int decoder_describe(struct decoder *decoder, const struct module *module,
		     struct file_facts *ret_facts)
{
	(void)decoder;
	(void)module;
	*ret_facts = (struct file_facts){ .has_symbols = 1 };
	return 0;
}

void decoder_prepare(struct decoder *decoder, const struct module *module, const struct plan *plan)
{
	(void)decoder;
	(void)module;
	(void)plan;
}

static void fake_decoder_add(struct plan *plan, uint32_t module, const char *symbol,
			     uint64_t offset)
{
	bool frees = offset == FAKE_FREE;
	uint32_t function = plan_add_function(plan, "glibc", symbol);

	plan->probes =
		memory_grow(plan->probes, plan->count, &plan->capacity, sizeof(*plan->probes));
	plan->probes[plan->count++] = (struct plan_probe){
		.module = module,
		.function = function,
		.symbol = symbol,
		.shape = frees ? SHAPE(CALL_FREE, 0, 0, 1, 0, SOURCE_HEAP)
			       : SHAPE(CALL_ALLOC, 1, 0, 0, 0, SOURCE_HEAP),
		.entry_offset = offset,
		.site_offset = offset,
	};
}

int decoder_plan(struct decoder *decoder, struct plan *plan, uint32_t module)
{
	struct module *file = module_list_get(plan->modules, module);
	size_t length = strlen(file->path), suffix = strlen(FAKE_ALLOCATOR);

	(void)decoder;
	if (length < suffix || strcmp(file->path + length - suffix, FAKE_ALLOCATOR) != 0)
		return 0;
	file->allocates = true;
	fake_decoder_add(plan, module, "malloc", FAKE_MALLOC);
	fake_decoder_add(plan, module, "free", FAKE_FREE);
	return 0;
}

const char *decoder_failure(int code)
{
	(void)code;
	return NULL;
}

#endif
