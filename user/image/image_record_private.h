/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a recorded image: a header; mappings, each followed by its name; runs of pages;
 * then pieces of memory in address order, each followed by its bytes, terminated by an empty one.
 */
#ifndef IMAGE_IMAGE_RECORD_PRIVATE_H
#define IMAGE_IMAGE_RECORD_PRIVATE_H

#include <stdint.h>

#define RECORD_MAGIC 0x31656761656d6974ull

struct record_head {
	uint64_t magic, page_size, own_pid;
	uint64_t mapping_count, run_count;
};

enum record_flags {
	RECORD_READABLE = 1,
	RECORD_WRITABLE = 2,
	RECORD_EXECUTABLE = 4,
	RECORD_SHARED = 8,
	RECORD_DELETED = 16,
	RECORD_DEVICE = 32,
	RECORD_HUGE = 64,
	RECORD_UNCHANGED = 128,
};

struct record_mapping {
	uint64_t start, end, file_offset, device, inode;
	uint32_t flags, name_length;
};

struct record_run {
	uint64_t start, end, bits;
};

struct record_piece {
	uint64_t address, size;
};

#define RECORD_NAME_MAX 65536
#define RECORD_PIECE_MAX (1u << 20)

#endif
