/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A probe shows in the code as another instruction than the file's: see probes_visible.h. */
#include "follow/probes_visible.h"

#include <string.h>
#include <unistd.h>

#include "system/process_memory.h"

/* What the kernel changes at least: one byte on x86, an instruction elsewhere. */
#if defined(__x86_64__)
#define PROBE_BYTES 1
#else
#define PROBE_BYTES 4
#endif

/* Where a process has mapped an offset of a module. False if it has not. */
static bool probes_visible_find(const struct process *process, uint32_t module, uint64_t offset,
				uint64_t *ret_address)
{
	struct address_mapping mapping;
	size_t i;

	for (i = 0; i < address_space_count(process->space); i++) {
		mapping = address_space_get(process->space, i);
		if (mapping.module != module || offset < mapping.file_offset ||
		    offset - mapping.file_offset >= mapping.end - mapping.start)
			continue;
		*ret_address = mapping.start + (offset - mapping.file_offset);
		return true;
	}
	return false;
}

bool probes_visible(const struct process *process, uint32_t module, int file,
		    const struct attach_point *points, size_t count)
{
	unsigned char theirs[PROBE_BYTES], ours[PROBE_BYTES];
	bool compared = false;
	uint64_t address;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!probes_visible_find(process, module, points[i].offset, &address) ||
		    process_memory_read_present(process->target.pid, address, theirs,
						PROBE_BYTES) != PROBE_BYTES ||
		    pread(file, ours, PROBE_BYTES, (off_t)points[i].offset) != PROBE_BYTES)
			continue;
		compared = true;
		if (memcmp(theirs, ours, PROBE_BYTES) != 0)
			return true;
	}
	return !compared;
}
