/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See command_text.h. */
#include "system/command_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "system/proc.h"
#include "system/process_memory.h"

/*
 * Arguments end with a NUL each. Where the last byte is none, the program has written a title over them, which ends at its
 * first NUL, and may go on into the environment behind them.
 */
char *command_text_parse(const char *bytes, size_t size, size_t arguments)
{
	size_t length = size < arguments ? size : arguments, i;
	char *text;

	if (size >= arguments && arguments && bytes[arguments - 1])
		length = strnlen(bytes, size);
	while (length && (!bytes[length - 1] || bytes[length - 1] == ' '))
		length--;
	if (!length)
		return NULL;
	text = memory_alloc(length + 1, 1);
	for (i = 0; i < length; i++)
		text[i] = bytes[i] ? bytes[i] : ' ';
	return text;
}

char *command_text_read(pid_t pid)
{
	struct proc_arguments range;
	uint64_t end;
	ssize_t size;
	char *bytes, *text;

	if (proc_read_arguments_range("/proc", pid, &range))
		return NULL;
	end = range.environment_end;
	if (end - range.start > COMMAND_TEXT_MAX)
		end = range.start + COMMAND_TEXT_MAX;
	bytes = memory_alloc(1, end - range.start);
	size = process_memory_read_present(pid, range.start, bytes, end - range.start);
	text = size > 0 ? command_text_parse(bytes, (size_t)size, range.end - range.start) : NULL;
	free(bytes);
	return text;
}
