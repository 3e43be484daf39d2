/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map in which a JIT compiler publishes the names of its code: lines of start, size (both hexadecimal) and name,
 * added while the program runs. The last line about an address counts. The file is the target's: it may hold anything,
 * and change at any time.
 */
#ifndef INTERP_PERF_MAP_H
#define INTERP_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names are cut to this size, terminator included. */
#define PERF_MAP_NAME_MAX 512

struct perf_map;

/* Takes over `fd`, of a regular file; of its lines `limit` are kept at most, each in 32 bytes. Free with perf_map_free. */
struct perf_map *perf_map_new(int fd, size_t limit);
void perf_map_free(struct perf_map *map);

/* Read what the file has grown by, then find the name of the code at an address. False if there is none. */
bool perf_map_find(struct perf_map *map, uint64_t address, char name[PERF_MAP_NAME_MAX]);

/* Was so much of the file read that the rest is left out? */
bool perf_map_is_cut(const struct perf_map *map);

#endif
