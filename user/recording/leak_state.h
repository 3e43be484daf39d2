/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of all blocks of a process at one search for lost ones, as a file, so that the next
 * search shows what was lost since. The file is untrusted: anything unexpected is an error.
 */
#ifndef RECORDING_LEAK_STATE_H
#define RECORDING_LEAK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "model/leak_report.h"

/* Limit of the file, bytes; 10 million blocks take a fraction of it. */
#define LEAK_STATE_MAX (256u << 20)

/* The process and program that the blocks belong to; they mean nothing for any other. */
struct leak_state_owner {
	uint64_t pid;
	uint64_t start_time, vector; /* see struct program_identity */
	int64_t wall_time; /* of the look: seconds since the epoch */
};

/* {0} has no blocks. */
struct leak_state {
	struct leak_state_owner owner;
	uint64_t count; /* of blocks */
	struct buffer blocks; /* owned */
	uint64_t last; /* address of the last block added */
};

/* Position of a reader. Start with {0}. */
struct leak_state_cursor {
	size_t at;
	uint64_t address, size;
	enum leak_verdict verdict;
	bool has_block;
};

/* Add a block, in ascending order of addresses. */
void leak_state_add(struct leak_state *state, uint64_t address, uint64_t size,
		    enum leak_verdict verdict);
/* Append the file to `out`. */
void leak_state_write(const struct leak_state *state, struct buffer *out);
/*
 * Fill `*ret_state`, which is {0}, from the bytes of the file `name`; free it with leak_state_free, also after a failure. Returns 0, or -EINVAL with `error`
 * filled (ERROR_USAGE).
 */
int leak_state_read(const struct buffer *file, const char *name, struct leak_state *ret_state,
		    struct error *error);
void leak_state_free(struct leak_state *state);

/*
 * The state of the block of this size at `address`; LEAK_BEFORE_NEW if there was none. Query in
 * ascending order with the same `cursor`.
 */
enum leak_before leak_state_find(const struct leak_state *state, struct leak_state_cursor *cursor,
				 uint64_t address, uint64_t size);

#endif
