/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_edges.h. */
#include "ruby/ruby_edges.h"

#include <string.h>

#include "base/deadline.h"
#include "ruby/ruby_generic.h"
#include "ruby/ruby_id.h"
#include "ruby/ruby_table.h"
#include "ruby/ruby_weak.h"

#define APART (1ull << 13) /* of strings */
#define EMBEDDED (1ull << 13) /* of arrays, objects */
#define ARRAY_LENGTH_SHIFT 15
#define ARRAY_LENGTH_MASK 127u
#define ARRAY_LENGTH_MASK_OLD 3u
#define STRUCT_SHIFT 13
#define HASH_TABLE (1ull << 15)
#define HASH_SMALL 8 /* pairs */
#define HASH_BOUND_SHIFT 20
#define HASH_BOUND_MASK 15u
#define OBJECT_WORDS_MAX 4096
#define DATA_BYTES_MAX (64u << 10) /* of a block of an extension's object that are looked at */
#define THREAD_DEPTH 3 /* blocks of a thread that lead to each other */
#define DATA_DEPTH 1
#define CODE_DEPTH 1
/* A thread's registers are saved in a block of at most so many words, behind the ends of its stack, and are so many bytes. */
#define CONTEXT_WORDS 128
#define REGISTERS_SIZE 200u
#define STACK_MAX (1ull << 40)
#define STEP 512 /* words that are read at once */
#define LARGE_STEP 4096 /* of large arrays */

enum internal_kind {
	INTERNAL_ENV = 0,
	INTERNAL_CREF = 1,
	INTERNAL_METHOD = 6,
	INTERNAL_CODE = 7,
	INTERNAL_CALLINFO = 11,
	INTERNAL_CALLCACHE = 12,
	INTERNAL_CONSTCACHE = 13,
};
#define INTERNAL_SHIFT 12
#define INTERNAL_MASK 15u

struct walk {
	const struct ruby_graph *graph;
	struct image *image;
	const struct ruby_release *layout;
	ruby_edge_function function;
	void *context;
	unsigned int budget;
	bool ended;
	bool runs; /* what is walked is a thread or a fiber */
};

/* A frame of code refers to the environment of the code around it by an address inside of that. */
static uint32_t edges_environment(struct walk *walk, uint64_t word)
{
	uint64_t ep = word & ~3ull, env;

	if (ep < 4096 || ep & 4)
		return 0;
	env = ruby_graph_word(walk->graph, ep + 8);
	return ruby_graph_number(walk->graph, env) &&
			       (ruby_graph_word(walk->graph, env) & (RUBY_TYPES - 1)) ==
				       RUBY_T_IMEMO &&
			       ruby_graph_word(walk->graph, env + 16) == ep
		       ? ruby_graph_number(walk->graph, env)
		       : 0;
}

static bool edges_put(struct walk *walk, enum ruby_edge_kind kind, uint64_t value, uint64_t key)
{
	struct ruby_edge edge = { kind, ruby_graph_number(walk->graph, value), key };

	if (!walk->budget || walk->ended)
		return false;
	if (!edge.target)
		return true;
	walk->budget--;
	walk->ended = !walk->function(walk->context, &edge);
	return !walk->ended;
}

static void edges_of_slot(struct walk *walk, const struct ruby_slot *slot, uint32_t from,
			  uint64_t count, enum ruby_edge_kind kind)
{
	uint64_t i;

	for (i = 0; i < count && from + i * 8 + 8 <= slot->size; i++)
		if (!edges_put(walk, kind, ruby_slots_word(slot, from + (uint32_t)i * 8), i))
			return;
}

static void edges_of_buffer(struct walk *walk, uint64_t address, uint64_t count,
			    enum ruby_edge_kind kind)
{
	uint64_t words[LARGE_STEP], done, i;
	size_t got, size;

	for (done = 0; done < count; done += LARGE_STEP) {
		/* Many objects may claim the same large buffer. */
		if (done && deadline_has_passed(walk->image->until_ns))
			return;
		size = (count - done < LARGE_STEP ? count - done : LARGE_STEP) * 8;
		got = (count > STEP
			       ? image_read_part(walk->image, address + done * 8, words, size)
			       : ruby_graph_read(walk->graph, address + done * 8, words, size)) /
		      8;
		for (i = 0; i < got; i++)
			if (!edges_put(walk, kind, words[i], done + i))
				return;
		if (got < LARGE_STEP)
			return;
	}
}

static void edges_of_array(struct walk *walk, const struct ruby_slot *slot)
{
	unsigned int mask = walk->layout->wide_strings ? ARRAY_LENGTH_MASK : ARRAY_LENGTH_MASK_OLD;
	uint64_t words[5], length = ruby_slots_word(slot, 16), bytes = ruby_slots_word(slot, 32);

	/* A large one that grows has moved its elements since its page was copied. */
	if (!(slot->flags & EMBEDDED) && length > STEP &&
	    image_read(walk->image, slot->address, words, sizeof(words)) &&
	    !((words[0] ^ slot->flags) & (EMBEDDED | (RUBY_TYPES - 1)))) {
		length = words[2];
		bytes = words[4];
	}
	if (slot->flags & EMBEDDED)
		edges_of_slot(walk, slot, 16, slot->flags >> ARRAY_LENGTH_SHIFT & mask,
			      RUBY_EDGE_ELEMENT);
	else
		edges_of_buffer(walk, bytes, length, RUBY_EDGE_ELEMENT);
}

static bool edges_pair(void *context, uint64_t key, uint64_t value)
{
	return edges_put(context, RUBY_EDGE_VALUE, value, key) &&
	       edges_put(context, RUBY_EDGE_KEY, key, 0);
}

/* What is behind the last pair in use is stale. */
static void edges_of_pairs(struct walk *walk, const struct ruby_slot *slot, const uint64_t *pairs)
{
	unsigned int bound = slot->flags >> HASH_BOUND_SHIFT & HASH_BOUND_MASK, i;

	for (i = 0; i < bound && i < HASH_SMALL; i++)
		if (!edges_pair(walk, pairs[i * 2], pairs[i * 2 + 1]))
			return;
}

static void edges_of_hash(struct walk *walk, const struct ruby_slot *slot)
{
	bool inside = walk->layout->tables_inside;
	uint64_t pairs[HASH_SMALL * 2];

	edges_put(walk, RUBY_EDGE_DEFAULT, ruby_slots_word(slot, inside ? 16 : 24), 0);
	if (slot->flags & HASH_TABLE) {
		ruby_table_walk(walk->image,
				inside ? slot->address + 24 : ruby_slots_word(slot, 16),
				RUBY_EDGES_MAX, edges_pair, walk);
	} else if (inside) {
		if (slot->size < 32 + sizeof(pairs))
			return;
		memcpy(pairs, slot->bytes + 32, sizeof(pairs));
		edges_of_pairs(walk, slot, pairs);
	} else if (ruby_slots_word(slot, 16) &&
		   ruby_graph_read(walk->graph, ruby_slots_word(slot, 16), pairs, sizeof(pairs)) ==
			   sizeof(pairs)) {
		edges_of_pairs(walk, slot, pairs);
	}
}

/* The size of a block of glibc's malloc; 0 = it is none. */
static uint64_t edges_block(struct walk *walk, uint64_t address)
{
	uint64_t size = address & 15 || address < 4096 ? 0
						       : ruby_graph_word(walk->graph, address - 8);

	size &= ~7ull;
	return size >= 32 && !(size & 15) && size < RUBY_EDGES_MAX ? size - 8 : 0;
}

static void edges_of_object(struct walk *walk, const struct ruby_slot *slot)
{
	uint64_t count;

	if (slot->flags & EMBEDDED) {
		edges_of_slot(walk, slot, 16, slot->size / 8, RUBY_EDGE_VARIABLE);
	} else if (walk->layout->shape_size) {
		count = edges_block(walk, ruby_slots_word(slot, 16)) / 8;
		edges_of_buffer(walk, ruby_slots_word(slot, 16), count, RUBY_EDGE_VARIABLE);
	} else {
		count = (uint32_t)ruby_slots_word(slot, 16);
		edges_of_buffer(walk, ruby_slots_word(slot, 24),
				count < OBJECT_WORDS_MAX ? count : OBJECT_WORDS_MAX,
				RUBY_EDGE_VARIABLE);
	}
}

static void edges_of_struct(struct walk *walk, const struct ruby_slot *slot)
{
	uint64_t embedded = (slot->flags & walk->layout->embedded_struct) >> STRUCT_SHIFT;

	if (embedded)
		edges_of_slot(walk, slot, 16, embedded, RUBY_EDGE_MEMBER);
	else
		edges_of_buffer(walk, ruby_slots_word(slot, 24), ruby_slots_word(slot, 16),
				RUBY_EDGE_MEMBER);
}

static bool edges_constant(void *context, uint64_t serial, uint64_t entry)
{
	struct walk *walk = context;

	return entry & 7 ||
	       edges_put(walk, RUBY_EDGE_CONSTANT, ruby_graph_word(walk->graph, entry + 8), serial);
}

static bool edges_method(void *context, uint64_t serial, uint64_t entry)
{
	return edges_put(context, RUBY_EDGE_METHOD, entry, serial);
}

static bool edges_class_variable(void *context, uint64_t id, uint64_t value)
{
	return edges_put(context, RUBY_EDGE_CLASS_VARIABLE, value, id);
}

static void edges_of_class(struct walk *walk, const struct ruby_slot *slot)
{
	const struct ruby_release *layout = walk->layout;
	uint64_t extension = slot->address + layout->extension, variables;

	if (layout->extension_is_pointer)
		extension = ruby_graph_word(walk->graph, extension);
	if (!extension)
		return;
	ruby_id_walk(walk->image, ruby_graph_word(walk->graph, extension + layout->constants),
		     RUBY_EDGES_MAX, edges_constant, walk);
	variables = ruby_graph_word(walk->graph, extension + layout->variables);
	if (layout->shape_size)
		edges_of_buffer(walk, variables, edges_block(walk, variables) / 8,
				RUBY_EDGE_VARIABLE);
	else
		ruby_table_walk(walk->image, variables, RUBY_EDGES_MAX, edges_class_variable, walk);
	/* The table of methods is before that of constants, or in the slot. */
	ruby_id_walk(walk->image,
		     layout->extension_is_pointer
			     ? ruby_graph_word(walk->graph, extension + layout->constants - 8)
			     : ruby_slots_word(slot, 24),
		     RUBY_EDGES_MAX, edges_method, walk);
	edges_put(walk, RUBY_EDGE_CLASS, ruby_slots_word(slot, 16), 0);
}

/* The two ends of a stack, and its size. */
static bool edges_is_stack(const struct walk *walk, const uint64_t *words)
{
	const struct image_mapping *mapping = image_find(walk->image, words[1]);

	return words[0] > words[1] && words[0] - words[1] <= words[2] && mapping &&
	       words[0] - 1 < mapping->end && words[2] < STACK_MAX;
}

/*
 * Where the registers of a fiber are in its block; 0 = not in this one. They are as they were at the last collection, or when the fiber
 * waited last: what they refer to may be freed, and be other blocks' old words. The fiber itself and its thread are words before them.
 */
static uint64_t edges_registers(struct walk *walk, uint64_t address, uint64_t size)
{
	uint64_t words[CONTEXT_WORDS], count, i;
	bool context = false;

	if (!walk->runs)
		return 0;
	count = ruby_graph_read(walk->graph, address, words,
				size < sizeof(words) ? size : sizeof(words)) /
		8;
	for (i = 0; i + 3 <= count; i++) {
		context |= words[i] == address && edges_block(walk, words[i + 1]);
		if (context && edges_is_stack(walk, words + i))
			return (i + 3) * 8;
	}
	return 0;
}

/* Any word of a block, and of the blocks that it refers to. */
static void edges_guess(struct walk *walk, uint64_t address, uint64_t base, int depth)
{
	uint64_t size = edges_block(walk, address), words[STEP], at, i, got, registers;
	uint32_t number;

	size = size < DATA_BYTES_MAX ? size : DATA_BYTES_MAX;
	registers = edges_registers(walk, address, size);
	for (at = 0; at < size && !walk->ended; at += sizeof(words)) {
		got = ruby_graph_read(walk->graph, address + at, words,
				      size - at < sizeof(words) ? size - at : sizeof(words)) /
		      8;
		for (i = 0; i < got && !walk->ended && walk->budget; i++) {
			uint64_t key = base + at + i * 8;
			struct ruby_edge edge = { RUBY_EDGE_LOCAL, 0, key };

			/* What the virtual machine holds no thread does. */
			if (words[i] < 4096 || words[i] == walk->graph->heap->vm ||
			    (registers && at + i * 8 - registers < REGISTERS_SIZE))
				continue;
			if (ruby_graph_number(walk->graph, words[i])) {
				edges_put(walk, RUBY_EDGE_WORD, words[i], key);
			} else if ((number = edges_environment(walk, words[i]))) {
				edge.target = number;
				walk->budget--;
				walk->ended = !walk->function(walk->context, &edge);
			} else if (depth && edges_block(walk, words[i])) {
				edges_guess(walk, words[i], key, depth - 1);
			}
		}
	}
}

/* The interpreter itself names its own native objects. */
static bool edges_is_native(const struct ruby_graph *graph, const struct ruby_slot *slot,
			    const char *native)
{
	char name[16] = "";
	uint64_t typed = ruby_slots_word(slot, 24);

	if (slot->type != RUBY_T_DATA || typed < 1 || typed > 3)
		return false;
	ruby_graph_read(graph, ruby_graph_word(graph, ruby_slots_word(slot, 16)), name,
			sizeof(name) - 1);
	return !strcmp(name, native);
}

bool ruby_edges_is_thread(const struct ruby_graph *graph, const struct ruby_slot *slot)
{
	return edges_is_native(graph, slot, "VM/thread");
}

static bool edges_weak(void *context, uint64_t address)
{
	return edges_put(context, RUBY_EDGE_WEAK, address, 0);
}

static void edges_of_generic(struct walk *walk, const struct ruby_slot *slot)
{
	uint64_t address = (uintptr_t)table_get(&walk->graph->generic, slot->address);

	if (address)
		edges_of_buffer(walk, address + RUBY_GENERIC_VALUES,
				ruby_generic_count(walk->graph, address), RUBY_EDGE_VARIABLE);
}

static void edges_of_data(struct walk *walk, const struct ruby_slot *slot)
{
	uint64_t typed = ruby_slots_word(slot, 24);
	struct ruby_edge edge = { .kind = RUBY_EDGE_LOCAL };
	bool is_thread;
	uint32_t from;

	if (ruby_weak_is_map(walk->graph, slot)) {
		ruby_weak_walk(walk->graph, slot, edges_weak, walk);
		return;
	}
	if (!walk->layout->tables_inside || typed > 3 || !(typed & 2)) {
		is_thread = ruby_edges_is_thread(walk->graph, slot);
		walk->runs = is_thread || edges_is_native(walk->graph, slot, "fiber");
		edges_guess(walk, ruby_slots_word(slot, 32), 0,
			    is_thread ? THREAD_DEPTH : DATA_DEPTH);
		return;
	}
	for (from = 32; from + 8 <= slot->size && !walk->ended; from += 8) {
		edges_put(walk, RUBY_EDGE_WORD, ruby_slots_word(slot, from), from);
		edge.target = edges_environment(walk, ruby_slots_word(slot, from));
		if (edge.target && !walk->ended)
			walk->ended = !walk->function(walk->context, &edge);
	}
}

static void edges_of_environment(struct walk *walk, const struct ruby_slot *slot)
{
	uint64_t count = ruby_slots_word(slot, 32) & UINT32_MAX,
		 address = ruby_slots_word(slot, 24);
	struct ruby_edge edge = { .kind = RUBY_EDGE_LOCAL };

	if (count > OBJECT_WORDS_MAX)
		return;
	edges_of_buffer(walk, address, count, RUBY_EDGE_LOCAL);
	/* The environment around it is where its own pointer leads. */
	edge.target =
		edges_environment(walk, ruby_graph_word(walk->graph, ruby_slots_word(slot, 16)));
	if (edge.target && !walk->ended &&
	    edge.target != ruby_graph_number(walk->graph, slot->address))
		walk->ended = !walk->function(walk->context, &edge);
}

static void edges_of_internal(struct walk *walk, const struct ruby_slot *slot)
{
	unsigned int kind = slot->flags >> INTERNAL_SHIFT & INTERNAL_MASK;

	/* What code was called or looked up last is no reason to be in use. */
	if (kind == INTERNAL_CALLINFO || kind == INTERNAL_CALLCACHE ||
	    kind == INTERNAL_CONSTCACHE || kind == INTERNAL_CODE)
		return;
	if (kind == INTERNAL_ENV)
		edges_of_environment(walk, slot);
	else if (kind == INTERNAL_METHOD)
		edges_of_buffer(walk, (ruby_slots_word(slot, 16) & ~7ull) + 8, 2, RUBY_EDGE_WORD);
	else
		edges_of_slot(walk, slot, 8, 4, RUBY_EDGE_WORD);
}

static void edges_of(struct walk *walk, const struct ruby_slot *slot)
{
	switch (slot->type) {
	case RUBY_T_ARRAY:
		edges_of_array(walk, slot);
		break;
	case RUBY_T_HASH:
		edges_of_hash(walk, slot);
		break;
	case RUBY_T_OBJECT:
		edges_of_object(walk, slot);
		break;
	case RUBY_T_STRUCT:
		edges_of_struct(walk, slot);
		break;
	case RUBY_T_STRING:
		if (slot->flags & APART && slot->flags & walk->layout->shared)
			edges_put(walk, RUBY_EDGE_WORD, ruby_slots_word(slot, 32), 32);
		break;
	case RUBY_T_CLASS:
	case RUBY_T_MODULE:
	case RUBY_T_ICLASS:
		edges_of_class(walk, slot);
		break;
	case RUBY_T_DATA:
		edges_of_data(walk, slot);
		break;
	case RUBY_T_IMEMO:
		edges_of_internal(walk, slot);
		return;
	case RUBY_T_RATIONAL:
	case RUBY_T_COMPLEX:
	case RUBY_T_REGEXP:
	case RUBY_T_MATCH:
		edges_of_slot(walk, slot, 16, 3, RUBY_EDGE_WORD);
		break;
	default:
		break;
	}
	if (ruby_slots_has_generic(slot))
		edges_of_generic(walk, slot);
	edges_put(walk, RUBY_EDGE_CLASS, slot->class, 0);
}

void ruby_edges_walk(const struct ruby_graph *graph, uint32_t number, ruby_edge_function function,
		     void *context)
{
	struct walk walk = { .graph = graph,
			     .image = graph->heap->image,
			     .layout = graph->heap->layout,
			     .function = function,
			     .context = context,
			     .budget = RUBY_EDGES_MAX };
	struct ruby_slot slot;

	ruby_graph_slot(graph, number, &slot);
	edges_of(&walk, &slot);
}

void ruby_edges_walk_block(const struct ruby_graph *graph, uint64_t address, int depth,
			   ruby_edge_function function, void *context)
{
	struct walk walk = { .graph = graph,
			     .image = graph->heap->image,
			     .layout = graph->heap->layout,
			     .function = function,
			     .context = context,
			     .budget = RUBY_EDGES_MAX };

	edges_guess(&walk, address, 0, depth);
}
