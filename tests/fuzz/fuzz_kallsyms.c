/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as /proc/kallsyms, and what stacks make of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "follow/kernel_stack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = {
		0, 1, 0x10, 0xffffffff81000001, 0xffffffffc0000010, UINT64_MAX
	};
	struct stack_record record = { .count = sizeof(addresses) / sizeof(addresses[0]) };
	char *copy = fuzz_copy(data, size);
	struct kallsyms *symbols = kallsyms_parse(copy, size);
	struct name_pool *pool = name_pool_new();
	struct kallsyms_place place;
	struct stack *stack;
	uint32_t i;

	free(copy);
	MUST(kallsyms_count(symbols) <= size);
	for (i = 0; i < record.count; i++) {
		record.pcs[i] = addresses[i];
		if (!kallsyms_find(symbols, addresses[i], &place))
			continue;
		MUST(place.function && *place.function && place.offset < KALLSYMS_FUNCTION_MAX);
		MUST(!place.module || *place.module);
	}
	stack = kernel_stack_make(&record, symbols, pool);
	MUST(stack->count <= record.count);
	for (i = 0; i < stack->count; i++)
		MUST(stack->frames[i].name->function);
	kernel_stack_is_for_blocks(stack);
	stack_free(stack);
	name_pool_free(pool);
	kallsyms_free(symbols);
	return 0;
}
