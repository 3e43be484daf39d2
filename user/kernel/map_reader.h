/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a whole BPF hash map in batches while programs change it. */
#ifndef KERNEL_MAP_READER_H
#define KERNEL_MAP_READER_H

#include <stddef.h>

struct bpf_map;

/*
 * Call `visit` for each entry of `map`. An entry that exists throughout is visited exactly once;
 * one that is added or removed meanwhile, at most once. Returns 0 or a negative errno.
 */
int map_read(const struct bpf_map *map,
	     void (*visit)(void *context, const void *key, const void *value), void *context);

#endif
