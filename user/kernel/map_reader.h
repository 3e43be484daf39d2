/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a whole BPF hash map while programs change it, many entries with each call. */
#ifndef KERNEL_MAP_READER_H
#define KERNEL_MAP_READER_H

#include <stddef.h>

struct bpf_map;

/*
 * Call `visit` for each entry of `map`. An entry that is there all the time is visited exactly once; one that comes or
 * goes meanwhile, once or not at all. Returns 0 or a negative errno.
 */
int map_read(const struct bpf_map *map,
	     void (*visit)(void *context, const void *key, const void *value), void *context);

#endif
