/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any text as /proc/PID/maps and as /proc/PID/status: paths and names in them are a target's own choice. What is read
 * must be sound, and as much as there are lines.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "system/proc.h"

static void check_maps(const char *text, size_t size)
{
	struct proc_map_list list = { 0 };
	size_t i, lines = 1;

	for (i = 0; i < size; i++)
		lines += text[i] == '\n';
	proc_parse_maps(text, size, &list);
	MUST(list.count <= lines);
	for (i = 0; i < list.count; i++) {
		MUST(list.items[i].path && strlen(list.items[i].path) <= size);
		MUST(list.items[i].start < list.items[i].end);
	}
	proc_map_list_free(&list);
}

static void check_status(const char *text, size_t size)
{
	struct proc_status status = { 0 };
	uint64_t pss;

	proc_parse_status(text, size, &status);
	proc_parse_pss(text, size, &pss);
	MUST(strnlen(status.comm, sizeof(status.comm)) < sizeof(status.comm));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_copy(data, size);

	check_maps(text, size);
	check_status(text, size);
	free(text);
	return 0;
}
