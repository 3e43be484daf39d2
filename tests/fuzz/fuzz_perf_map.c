/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the map of a JIT compiler, read in two pieces: as if it had grown. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "interp/perf_map.h"

static void look(struct perf_map *map)
{
	static const uint64_t addresses[] = { 0, 1, 0x10, 0x1000, 0xffff, UINT64_MAX };
	char name[PERF_MAP_NAME_MAX];
	size_t i;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		if (perf_map_find(map, addresses[i], name))
			MUST(memchr(name, 0, sizeof(name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t half = size ? data[0] * size / 256 : 0;
	int fd = memfd_create("map", MFD_CLOEXEC);
	struct perf_map *map;

	MUST(fd >= 0);
	map = perf_map_new(fd, 1u << 21);
	MUST(write(fd, data, half) == (ssize_t)half);
	look(map);
	MUST(write(fd, data + half, size - half) == (ssize_t)(size - half));
	look(map);
	perf_map_free(map);
	return 0;
}
