/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See own_code.h. */
#include "kernel/own_code.h"

#include <errno.h>
#include <stddef.h>

#include "system/proc.h"

int own_code_offset(uint64_t address, uint64_t *ret_offset)
{
	struct proc_map_list list;
	int code = proc_read_maps("/proc", 0, &list);
	size_t i;

	if (code)
		return code;
	code = -ENOENT;
	for (i = 0; i < list.count; i++) {
		if (address < list.items[i].start || address >= list.items[i].end)
			continue;
		*ret_offset = address - list.items[i].start + list.items[i].file_offset;
		code = 0;
	}
	proc_map_list_free(&list);
	return code;
}
