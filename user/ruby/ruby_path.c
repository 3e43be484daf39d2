/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_path.h. */
#include "ruby/ruby_path.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/hash.h"
#include "ruby/ruby_edges.h"

#define DEPTH_MAX 24
/* Objects of one class that hold each other, such as a list: fewer are shown one by one, and no more are followed. */
#define CHAIN_MIN 4
#define CHAIN_MAX (1u << 20)
#define CHAIN_STEP 4096
#define NAME_MAX_LENGTH 128
#define KEY_MAX 40

#define HASH_TABLE (1ull << 15)
#define ARRAY_EMBEDDED (1ull << 13)
#define INTERNAL_SHIFT 12
#define INTERNAL_MASK 15u

struct path {
	const struct ruby_holders *holders;
	struct buffer *text;
	bool samples;
};

/* The edge that leads from one object to another. */
struct path_search {
	uint32_t target;
	bool found;
	struct ruby_edge edge;
};

static bool path_look(void *context, const struct ruby_edge *edge)
{
	struct path_search *search = context;

	if (edge->target != search->target)
		return true;
	search->edge = *edge;
	search->found = true;
	return false;
}

static uint64_t path_hash_length(const struct ruby_graph *graph, const struct ruby_slot *slot)
{
	bool inside = graph->heap->layout->tables_inside;

	if (!(slot->flags & HASH_TABLE))
		return slot->flags >> 16 & 15;
	return inside ? ruby_slots_word(slot, 24 + 16)
		      : image_word(graph->heap->image, ruby_slots_word(slot, 16) + 16);
}

static void path_append_class(const struct path *path, uint64_t class)
{
	char name[NAME_MAX_LENGTH];

	if (!ruby_class_name(path->holders->graph->names, class, name, sizeof(name)))
		snprintf(name, sizeof(name), "(class without a name)");
	buffer_append_string(path->text, name);
}

static void path_append_internal(const struct path *path, const struct ruby_slot *slot)
{
	unsigned int kind = slot->flags >> INTERNAL_SHIFT & INTERNAL_MASK;
	const char *name = ruby_slots_internal_name(kind);

	buffer_append_string(path->text, kind == 0   ? "a block"
					 : kind == 6 ? "a method"
					 : kind == 7 ? "code"
					 : name	     ? name
						     : "an internal object");
}

/* What an object is, as a holder. */
static void path_append_object(const struct path *path, const struct ruby_slot *slot)
{
	const struct ruby_graph *graph = path->holders->graph;
	char name[NAME_MAX_LENGTH];

	if (slot->type == RUBY_T_IMEMO) {
		path_append_internal(path, slot);
		return;
	}
	if (slot->type == RUBY_T_CLASS || slot->type == RUBY_T_MODULE ||
	    slot->type == RUBY_T_ICLASS) {
		if (ruby_class_name(graph->names, slot->address, name, sizeof(name)))
			buffer_append_string(path->text, name);
		else
			buffer_append_string(path->text, "(class without a name)");
		return;
	}
	if (slot->class)
		path_append_class(path, slot->class);
	else
		buffer_append_string(path->text, "an internal object");
	if (slot->type == RUBY_T_HASH)
		buffer_printf(path->text, " of %llu",
			      (unsigned long long)path_hash_length(graph, slot));
	else if (slot->type == RUBY_T_ARRAY && !(slot->flags & ARRAY_EMBEDDED))
		buffer_printf(path->text, " of %llu",
			      (unsigned long long)ruby_slots_word(slot, 16));
}

static void path_append_string_key(const struct path *path, uint64_t key)
{
	char text[KEY_MAX];

	if (path->samples &&
	    ruby_class_string(path->holders->graph->names, key, text, sizeof(text)))
		buffer_printf(path->text, "\"%s\"", text);
	else
		buffer_append_string(path->text, "a String");
}

/* A hash's key: small numbers and symbols as they are; of others the class. */
static void path_append_key(const struct path *path, uint64_t key)
{
	const struct ruby_graph *graph = path->holders->graph;
	uint32_t number = ruby_graph_number(graph, key);
	char name[NAME_MAX_LENGTH] = "";
	struct ruby_slot slot;

	if (key & 1) {
		buffer_printf(path->text, "%lld", (long long)((int64_t)key >> 1));
	} else if ((key & 0xff) == 0xc) {
		ruby_id_name(&path->holders->ids, key >> 8, name, sizeof(name));
		buffer_printf(path->text, ":%s", name[0] ? name : "?");
	} else if (!number) {
		buffer_append_string(path->text, "?");
	} else {
		ruby_graph_slot(graph, number, &slot);
		if (slot.type == RUBY_T_STRING) {
			path_append_string_key(path, key);
		} else if (slot.type == RUBY_T_SYMBOL) {
			ruby_class_string(graph->names, ruby_slots_word(&slot, 24), name,
					  sizeof(name));
			buffer_printf(path->text, ":%s", name[0] ? name : "?");
		} else {
			buffer_append_string(path->text, "a ");
			path_append_object(path, &slot);
		}
	}
}

static bool path_is_class(const struct ruby_slot *slot)
{
	return slot->type == RUBY_T_CLASS || slot->type == RUBY_T_MODULE;
}

/* "@table": or where it is, if it has no name that is known. */
static void path_append_variable(const struct path *path, const struct ruby_slot *holder,
				 uint64_t index)
{
	char name[NAME_MAX_LENGTH];

	if (ruby_id_variable(&path->holders->ids, holder, index, name, sizeof(name)))
		buffer_append_string(path->text, name);
	else
		buffer_printf(path->text, "variable %llu", (unsigned long long)index);
}

/* "constant App::STORE". True: a class with a name holds it, and is a root to a reader. */
static void path_append_constant(const struct path *path, const struct ruby_slot *holder,
				 uint64_t serial)
{
	const struct ruby_graph *graph = path->holders->graph;
	char name[NAME_MAX_LENGTH];

	buffer_append_string(path->text, "constant ");
	if (holder->address != graph->heap->object_class) {
		path_append_object(path, holder);
		buffer_append_string(path->text, "::");
	}
	if (!ruby_id_serial_name(&path->holders->ids, serial, name, sizeof(name)))
		snprintf(name, sizeof(name), "(unknown)");
	buffer_append_string(path->text, name);
}

/* Append the step from an object to its holder; true: the way ends here. */
static bool path_append_step(const struct path *path, const struct ruby_edge *edge,
			     const struct ruby_slot *holder)
{
	struct buffer *text = path->text;
	char name[NAME_MAX_LENGTH] = "";

	switch (edge->kind) {
	case RUBY_EDGE_CONSTANT:
		path_append_constant(path, holder, edge->key);
		return true;
	case RUBY_EDGE_ELEMENT:
		buffer_printf(text, "[%llu]", (unsigned long long)edge->key);
		break;
	case RUBY_EDGE_VALUE:
		buffer_append_string(text, "[");
		path_append_key(path, edge->key);
		buffer_append_string(text, "]");
		break;
	case RUBY_EDGE_KEY:
		buffer_append_string(text, "a key");
		break;
	case RUBY_EDGE_DEFAULT:
		buffer_append_string(text, "the default");
		break;
	case RUBY_EDGE_VARIABLE:
		if (path_is_class(holder))
			buffer_append_string(text, "variable ");
		path_append_variable(path, holder, edge->key);
		break;
	case RUBY_EDGE_CLASS_VARIABLE:
		ruby_id_name(&path->holders->ids, edge->key, name, sizeof(name));
		buffer_printf(text, "variable %s", name[0] ? name : "(unknown)");
		break;
	case RUBY_EDGE_MEMBER:
		buffer_printf(text, "member %llu", (unsigned long long)edge->key);
		break;
	case RUBY_EDGE_METHOD:
		ruby_id_serial_name(&path->holders->ids, edge->key, name, sizeof(name));
		buffer_printf(text, "method %s", name[0] ? name : "(unknown)");
		break;
	case RUBY_EDGE_CLASS:
		buffer_append_string(text, "class");
		break;
	case RUBY_EDGE_LOCAL:
		buffer_append_string(text, "a local variable");
		break;
	case RUBY_EDGE_WEAK:
		buffer_append_string(text, "a weak reference");
		break;
	case RUBY_EDGE_WORD:
		if (holder->type == RUBY_T_IMEMO) {
			path_append_object(path, holder);
			return false;
		}
		buffer_append_string(text,
				     holder->type == RUBY_T_DATA ? "native memory" : "a part");
		break;
	}
	buffer_append_string(text, " of ");
	path_append_object(path, holder);
	return path_is_class(holder) &&
	       ruby_class_name(path->holders->graph->names, holder->address, name, sizeof(name));
}

static const char *path_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A word that nobody is known to own: where it is. */
static void path_append_word(const struct path *path, uint64_t address)
{
	const struct image_mapping *mapping =
		image_find(path->holders->graph->heap->image, address);
	const char *name = mapping ? mapping->name : "";

	if (!strcmp(name, "[stack]"))
		buffer_append_string(path->text, "a word on the main stack, maybe stale");
	else if (*name && *name != '[')
		buffer_printf(path->text, "static data of %s", path_file(name));
	else
		buffer_append_string(path->text, "a word of native memory, maybe stale");
}

static void path_append_root(const struct path *path, uint32_t number)
{
	uintptr_t place = (uintptr_t)table_get(&path->holders->roots, number);
	const struct ruby_root *root = place ? &path->holders->items[place - 1] : NULL;
	char name[NAME_MAX_LENGTH];

	if (!root || root->kind == RUBY_ROOT_CONSTANTS)
		buffer_append_string(path->text, "the constants");
	else if (root->kind == RUBY_ROOT_SYMBOLS)
		buffer_append_string(path->text, "the table of symbols");
	else if (root->kind == RUBY_ROOT_LITERALS)
		buffer_append_string(path->text, "the table of frozen strings (literals of code)");
	else if (root->kind == RUBY_ROOT_MACHINE)
		buffer_append_string(path->text, "the interpreter itself");
	else if (root->kind == RUBY_ROOT_THREAD)
		buffer_append_string(path->text, "a thread");
	else if (root->kind == RUBY_ROOT_WORD)
		path_append_word(path, root->key);
	else if (ruby_id_serial_name(&path->holders->ids, root->key, name, sizeof(name)))
		buffer_printf(path->text, "global %s", name);
	else
		buffer_append_string(path->text, "a global variable");
}

/* The holder of an object, if both are of one class; else 0. */
static uint32_t path_find_alike(const struct path *path, uint32_t number)
{
	const struct ruby_holders *holders = path->holders;
	uint32_t parent = holders->parents[number];
	struct ruby_slot held, holder;

	if (parent == number)
		return 0;
	ruby_graph_slot(holders->graph, number, &held);
	ruby_graph_slot(holders->graph, parent, &holder);
	return held.class && held.class == holder.class && held.type == holder.type ? parent : 0;
}

/* Go to the end of a chain of objects that hold each other, and append how many that are. */
static uint32_t path_append_chain(const struct path *path, uint32_t number)
{
	const struct ruby_graph *graph = path->holders->graph;
	uint32_t at = number, next, count = 0;
	struct ruby_slot slot;

	while (count < CHAIN_MAX && (next = path_find_alike(path, at))) {
		if (++count % CHAIN_STEP == 0 && deadline_has_passed(graph->heap->image->until_ns))
			break;
		at = next;
	}
	if (count < CHAIN_MIN)
		return number;
	ruby_graph_slot(graph, at, &slot);
	buffer_printf(path->text, " <- %u more objects of ", count);
	path_append_class(path, slot.class);
	return at;
}

void ruby_path_append(const struct ruby_holders *holders, uint32_t number, bool samples,
		      struct buffer *text)
{
	const struct path path = { holders, text, samples };
	unsigned int depth;

	for (depth = 0; depth < DEPTH_MAX; depth++) {
		uint32_t parent = holders->parents[number];
		struct path_search search = { .target = number };
		struct ruby_slot holder;

		if (depth)
			buffer_append_string(text, " <- ");
		if (parent == number) {
			path_append_root(&path, number);
			return;
		}
		ruby_graph_slot(holders->graph, parent, &holder);
		ruby_edges_walk(holders->graph, parent, path_look, &search);
		/* The heap has changed meanwhile. */
		if (!search.found)
			search.edge.kind = RUBY_EDGE_LOCAL;
		if (path_append_step(&path, &search.edge, &holder))
			return;
		number = path_append_chain(&path, parent);
	}
	buffer_append_string(text, " <- ...");
}

/* Numbers, and what is between brackets, do not count. */
uint64_t ruby_path_shape(const char *text)
{
	uint64_t hash = HASH_BEGIN;
	int depth = 0;

	for (; *text; text++) {
		depth -= *text == ']' && depth;
		if (!depth && !isdigit((unsigned char)*text))
			hash = hash_bytes(hash, text, 1);
		depth += *text == '[';
	}
	return hash;
}
