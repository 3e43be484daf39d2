/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of the unwinder. User space fills them; the BPF programs only read them, except for the cache.
 *
 * Rows and page indexes of all files lie one behind the other in two huge values, which user space maps into its
 * memory: a row costs no system call. Position 0 of the rows is an end marker and means "no row".
 *
 * A process has an index and two tables of mappings; the low bit of its generation selects the one in use. To
 * change the mappings, user space writes the other table, then adds 1 to the generation.
 *
 * When no process has a file mapped any more, its rows and pages may be written over with those of another file. First
 * all ways to them are closed: no table in use has a mapping of it, and its entry in unwind_files is deleted. Then 2 is added
 * to the generation of every process, which leaves the table in use the same. Only then are rows and pages written. A walk
 * takes what it has read for good only if the generation of its process is after the reading what it was before. If it is the
 * new one, the walk has found no way to the old rows; if it is the old one, it has read them before they were touched. The
 * words of caches, which may hold positions of rows, are of older generations from then on. Where the processor may
 * reorder loads, the system calls between the last step and the writing take longer than any reordering.
 *
 * A word of a cache holds the low six bits of its generation. The cache is zeroed twice as often as these wrap, because
 * running walks may write words of a generation that has just ended.
 */
#ifndef UNWIND_MAPS_BPF_H
#define UNWIND_MAPS_BPF_H

#include "unwind_abi.h"

/* The smallest sizes; user space sets those of the values and these masks before the load. */
#define UNWIND_ROWS_MIN (1 << 18)
#define UNWIND_PAGES_MIN (1 << 18)

/* Number of rows and of page index entries, minus one; both are powers of two. */
const volatile __u32 unwind_rows_mask = UNWIND_ROWS_MIN - 1;
const volatile __u32 unwind_pages_mask = UNWIND_PAGES_MIN - 1;

struct unwind_cache {
	__u64 words[UNWIND_CACHE_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 8 * UNWIND_ROWS_MIN);
} unwind_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4 * UNWIND_PAGES_MIN);
} unwind_pages SEC(".maps");

/* Files whose rows are there, whether this process has mapped them or not. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file_rows);
} unwind_files SEC(".maps");

/* Mappings that the kernel was asked for, by each part of the addresses that they cover. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct unwind_block);
	__type(value, struct unwind_vma);
} unwind_new_mappings SEC(".maps");

/* Index of a process by its target_id. An index is given to another process only after its walks have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unwind_processes SEC(".maps");

/* Generation of the mappings of each process; mappable, so that a change is one store. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} unwind_generations SEC(".maps");

/* Two per process. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct unwind_mappings);
} unwind_tables SEC(".maps");

/* One per process. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_cache);
} unwind_caches SEC(".maps");

#endif
