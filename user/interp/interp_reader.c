/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_reader.h. */
#include "interp/interp_reader.h"

#include <errno.h>

#include "system/process_memory.h"

static bool reader_read_present(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct interp_reader *reader = context;

	return process_memory_read_present(reader->pid, address, bytes, size) == (ssize_t)size;
}

static bool reader_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct interp_reader *reader = context;
	ssize_t got;

	if (reader->hung)
		return reader_read_present(context, address, bytes, size);
	got = process_memory_read(reader->pid, address, bytes, size, reader->patience);
	reader->hung = got == -ETIMEDOUT;
	return got == (ssize_t)size;
}

struct target_memory interp_reader_memory(struct interp_reader *reader)
{
	return (struct target_memory){ reader_read, reader, reader_read_present };
}
