/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Native memory behind Ruby's objects: blocks of malloc's to which pointers lead from the data of an extension's objects, and from nothing else
 * that is known. What static data or the interpreter leads to is not an object's. Only exact pointers to where a block begins count.
 */
#ifndef OBJECTS_RUBY_NATIVE_H
#define OBJECTS_RUBY_NATIVE_H

#include "base/buffer.h"
#include "heap/census.h"
#include "heap/kind_index.h"
#include "heap/module_ranges.h"
#include "heap/window.h"
#include "objects/object_table.h"
#include "objects/ruby_heap.h"

struct ruby_native {
	struct image *image;
	struct kind_blocks blocks;
	struct kind_index index;
	struct window window;
	/* Owned; of each block: 0 = none yet, 1 = no object, or 2 + the position of a class. */
	uint32_t *owners;
	uint32_t *queue; /* owned: numbers of blocks that are to be read, each once */
	uint32_t queued, done;
	uint64_t budget; /* bytes that may still be read */
	bool unknown; /* which blocks are in use */
	bool too_many; /* blocks; then none is known */
	bool cut; /* not all that should be was read */
};

/* Free with ruby_native_free. */
void ruby_native_open(struct image *image, uint64_t max_bytes, struct ruby_native *ret_native);
void ruby_native_free(struct ruby_native *native);

/* What a walk of the allocator's blocks passes them to. */
struct census_sink ruby_native_sink(struct ruby_native *native);
/* All blocks were put. False if there are none, or too many: then nothing else may be called but to free it. */
bool ruby_native_begin(struct ruby_native *native, const struct ruby_heap *heap);

/* The block belongs to Ruby's own: neither it nor what it leads to is an object's through it. Any address is allowed. */
void ruby_native_keep(struct ruby_native *native, uint64_t address);
/* An object of the class at this position of the table: the first to claim a block has it. Buffers of Ruby's own types are kept. */
void ruby_native_put(struct ruby_native *native, const struct ruby_objects_layout *layout,
		     const struct ruby_slot *slot, size_t class);

/* Follow all claims, and add the bytes of the blocks to the classes of the table. */
void ruby_native_count(struct ruby_native *native, struct object_table *table);

/* Append what was not counted, in a line, if anything was not. */
void ruby_native_remark(const struct ruby_native *native, struct buffer *remarks);

#endif
