/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as code, with a function symbol and a linkage table among them: the search for return instructions ends, and
 * every exit is one. What a return instruction is, is said here by its bytes, from the processor's manual.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../unit/fake_elf_file.h"
#include "../unit/fake_plt.h"
#include "fuzz.h"
#include "probe/exits.h"

#define SIZE 0x3000
#define PLT 0x2000

/* ret and lret, with or without a number of bytes to drop, iret; prefixes may stand before. */
static bool is_return(const uint8_t *code)
{
	size_t i;

	for (i = 0; i < 15; i++) { /* the longest instruction */
		if (code[i] == 0xc3 || code[i] == 0xc2 || code[i] == 0xcb || code[i] == 0xca ||
		    code[i] == 0xcf)
			return true;
		/* sysret and sysexit go back, too. */
		if (code[i] == 0x0f && (code[i + 1] == 0x07 || code[i + 1] == 0x35))
			return true;
	}
	return false;
}

/* Is there a system call not far before an instruction? */
static bool is_call(const uint8_t *bytes, uint64_t offset)
{
	uint64_t at;

	for (at = offset - 2; at > offset - 4 * 15; at--)
		if (bytes[at] == 0x0f && bytes[at + 1] == 0x05)
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "helper", "__cxa_throw", "elsewhere" };
	static uint8_t bytes[SIZE + 16];
	struct elf_file file = { .bytes = bytes, .size = SIZE, .function_count = 1 };
	static const struct exits_call call = { .number = 11,
						.features = { .emulates_branch = true } };
	struct exits exits;
	size_t i;

	memset(bytes, 0xc3, sizeof(bytes));
	memcpy(bytes + 0x1000, data, size < 0x1000 ? size : 0x1000);
	fake_plt_write(bytes, SIZE, PLT, names, 3);
	file.functions[0] = (struct elf_function){ .name = "helper", .file_offset = 0x1800 };
	if (exits_find(&file, 0x1000, size % 3 ? 0 : size, size % 2 ? &call : NULL, &exits)) {
		MUST(exits.count > 0 && exits.count <= EXITS_MAX && !exits.refusal);
		for (i = 0; i < exits.count; i++) {
			const struct exit_site *exit = &exits.items[i];

			MUST(exit->offset < SIZE);
			MUST(exit->behind_call ? is_call(bytes, exit->offset)
			     : exit->in_argument
				     ? bytes[exit->offset] == 0xe9 || bytes[exit->offset] == 0xeb
				     : is_return(bytes + exit->offset));
		}
	} else {
		MUST(exits.refusal && *exits.refusal);
	}
	return 0;
}
