/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of --since that somebody has written: what is read of it can be asked for any address. */
#include <string.h>

#include "fuzz.h"
#include "recording/leak_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct leak_state_cursor cursor = { 0 };
	struct leak_state state = { 0 };
	struct buffer file = { 0 };
	struct error error = { 0 };
	uint64_t address;
	int code;

	buffer_append(&file, data, size);
	code = leak_state_read(&file, "file", &state, &error);
	MUST(!code == !error.text[0]);
	for (address = 8; !code && address < 1ull << 40; address *= 2)
		MUST(leak_state_find(&state, &cursor, address, 24) < LEAK_BEFORES);
	leak_state_free(&state);
	buffer_free(&file);
	return 0;
}
