/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Native memory behind Ruby's objects: malloc blocks that only the data of an extension's objects
 * point to, as far as known. Blocks that static data or the interpreter points to do not count.
 * Only exact pointers to the start of a block count.
 */
#ifndef RUBY_RUBY_NATIVE_H
#define RUBY_RUBY_NATIVE_H

#include "base/buffer.h"
#include "heap/census.h"
#include "kinds/kind_index.h"
#include "image/module_ranges.h"
#include "image/window.h"
#include "objects/object_table.h"
#include "ruby/ruby_heap.h"

struct ruby_native {
	struct image *image;
	struct kind_blocks blocks;
	struct kind_index index;
	struct window window;
	/* Owned; by block: 0 = none yet, 1 = no object, else 2 + the position of a class. */
	uint32_t *owners;
	uint32_t *queue; /* owned: numbers of blocks to read, without duplicates */
	uint32_t queued, done;
	uint64_t budget; /* bytes left to read */
	bool unknown; /* it is unknown which blocks are in use */
	bool too_many; /* too many blocks: all were dropped */
	bool cut; /* reading was cut short */
};

/* Free with ruby_native_free. */
void ruby_native_open(struct image *image, uint64_t max_bytes, struct ruby_native *ret_native);
void ruby_native_free(struct ruby_native *native);

/* The sink for a walk of the allocator's blocks. */
struct census_sink ruby_native_sink(struct ruby_native *native);
/* Call after the walk. False if there are no blocks, or too many: then only free it. */
bool ruby_native_begin(struct ruby_native *native, const struct ruby_heap *heap);

/*
 * Mark a block as Ruby's own: neither it nor what it points to belongs to an object. Any address is
 * allowed.
 */
void ruby_native_keep(struct ruby_native *native, uint64_t address);
/*
 * Add an object of the class at this table position: the first claim of a block counts. Buffers of
 * Ruby's own types are marked as Ruby's.
 */
void ruby_native_put(struct ruby_native *native, const struct ruby_release *layout,
		     const struct ruby_slot *slot, size_t class);

/* Follow all claims, and add the bytes of the blocks to the classes of the table. */
void ruby_native_count(struct ruby_native *native, struct object_table *table);

/* Append a line on what could not be counted, if anything. */
void ruby_native_remark(const struct ruby_native *native, struct buffer *remarks);

#endif
