/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_path.h. */
#include "python/python_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "objects/object_table.h"
#include "python/python_text.h"

#define KEY_MAX 64 /* bytes that are shown of a key */

/* In front of the values that an object keeps in itself: their number and state. */
#define VALUES_HEAD 8

/* Members of a class with slots: the descriptor's description, and the offset in that. */
#define MEMBER_DESCRIPTION 40
#define MEMBER_OFFSET 16
#define MEMBERS_MAX 256u

/* A chain of so many steps is shown as one; of loops of up to so many steps each. */
#define REPEATS_MIN 3
#define LOOP_MAX 4

struct path_step {
	char *text; /* owned */
	uint64_t times; /* not 0: of a chain, so many of those before it */
};

struct path {
	struct python_graph *graph;
	struct image *image;
	const struct python_release *offsets;
	struct buffer *text;
	bool samples;
};

static const struct python_owner *path_owner(const struct path *path,
					     const struct python_edge *edge)
{
	return &path->graph->nodes[edge->holder].owner;
}

static void path_append_class(const struct path *path, struct python_type *type)
{
	text_append_safe(path->text, python_type_describe(&path->graph->heap->types, type));
}

/* An int of up to two digits, of 30 bits each. */
static bool path_read_int(const struct path *path, uint64_t address, int64_t *ret_value)
{
	uint64_t size = image_word(path->image, address + PYTHON_INT_SIZE), digits;
	bool negative;

	if (!image_read(path->image, address + PYTHON_INT_DIGITS, &digits, sizeof(digits)))
		return false;
	if (path->offsets->minor >= 12) {
		negative = (size & 3) == 2;
		size >>= 3;
	} else {
		negative = (int64_t)size < 0;
		size = negative ? -size : size;
	}
	if (size > 2)
		return false;
	*ret_value = size ? (int64_t)(digits & 0x3fffffff) : 0;
	if (size == 2)
		*ret_value |= (int64_t)(digits >> 32 & 0x3fffffff) << 30;
	if (negative)
		*ret_value = -*ret_value;
	return true;
}

/* A key of a dict as it is written in a program, or its class: a text that is no name is shown only where that is wanted. */
static void path_append_key(const struct path *path, uint64_t key, bool is_name)
{
	struct python_type *type = python_type_get(
		&path->graph->heap->types, image_word(path->image, key + PYTHON_OBJECT_TYPE));
	char text[KEY_MAX];
	int64_t value;

	if (!type) {
		buffer_append_string(path->text, "?");
	} else if (type->flags & PYTHON_FLAG_STR && !is_name && !path->samples) {
		buffer_append_string(path->text, "a str");
	} else if (type->flags & PYTHON_FLAG_STR &&
		   python_text_read(path->image, path->offsets, key, text, sizeof(text))) {
		buffer_append_string(path->text, "'");
		text_append_safe(path->text, text);
		buffer_append_string(path->text, "'");
	} else if (type->flags & PYTHON_FLAG_LONG && path_read_int(path, key, &value)) {
		buffer_printf(path->text, "%lld", (long long)value);
	} else {
		path_append_class(path, type);
	}
}

/* The key of which the dict or class has the value number `index`; 0 = unknown. */
static uint64_t path_find_key(const struct path *path, uint64_t keys, uint64_t index)
{
	struct python_keys read;

	if (!python_keys_read(path->image, path->offsets, keys, &read) || index >= read.count)
		return 0;
	return image_word(path->image, read.entries + index * read.entry_size + read.key);
}

/* The key under which a dict has the value whose word is at `edge->at`; `field` is what leads to its keys or values. */
static uint64_t path_dict_key(const struct path *path, uint64_t dict,
			      const struct python_edge *edge, const struct python_edge *field,
			      bool *ret_is_key)
{
	uint64_t keys = image_word(path->image, dict + PYTHON_DICT_KEYS), offset;
	struct python_keys read;

	*ret_is_key = false;
	if (field->at == dict + PYTHON_DICT_VALUES)
		return path_find_key(path, keys, (edge->at - field->value) / 8);
	if (!python_keys_read(path->image, path->offsets, keys, &read) || edge->at < read.entries)
		return 0;
	offset = edge->at - read.entries;
	*ret_is_key = offset % read.entry_size == read.key;
	return path_find_key(path, keys, offset / read.entry_size);
}

static bool path_append_attribute(const struct path *path, struct python_type *type, uint64_t index)
{
	uint64_t keys = image_word(path->image, type->address + path->offsets->cached_keys);
	uint64_t key = type->flags & PYTHON_FLAG_HEAP_TYPE ? path_find_key(path, keys, index) : 0;
	char text[KEY_MAX];

	if (!key || !python_text_read(path->image, path->offsets, key, text, sizeof(text)))
		return false;
	buffer_append_string(path->text, ".");
	text_append_safe(path->text, text);
	buffer_append_string(path->text, " of ");
	path_append_class(path, type);
	return true;
}

/* The slot at an offset of an object: the class's dict has a descriptor for it. */
static bool path_append_slot(const struct path *path, struct python_type *type, uint64_t offset)
{
	uint64_t dict = image_word(path->image, type->address + PYTHON_TYPE_DICT), i, at, value;
	struct python_keys keys;
	struct python_type *of;
	char text[KEY_MAX];

	if (!(type->flags & PYTHON_FLAG_HEAP_TYPE) ||
	    !python_keys_read(path->image, path->offsets,
			      image_word(path->image, dict + PYTHON_DICT_KEYS), &keys))
		return false;
	for (i = 0; i < keys.count && i < MEMBERS_MAX; i++) {
		at = keys.entries + i * keys.entry_size;
		value = image_word(path->image, at + keys.value);
		of = python_type_get(&path->graph->heap->types,
				     image_word(path->image, value + PYTHON_OBJECT_TYPE));
		if (!of || strcmp(of->name, "member_descriptor") != 0 ||
		    image_word(path->image, image_word(path->image, value + MEMBER_DESCRIPTION) +
						    MEMBER_OFFSET) != offset ||
		    !python_text_read(path->image, path->offsets,
				      image_word(path->image, at + keys.key), text, sizeof(text)))
			continue;
		buffer_append_string(path->text, ".");
		text_append_safe(path->text, text);
		buffer_append_string(path->text, " of ");
		path_append_class(path, type);
		return true;
	}
	return false;
}

static void path_append_function(const struct path *path, uint64_t function)
{
	char text[KEY_MAX];

	buffer_append_string(path->text, "function");
	if (!python_text_read(path->image, path->offsets,
			      image_word(path->image, function + path->offsets->function_name),
			      text, sizeof(text)))
		return;
	buffer_append_string(path->text, " ");
	text_append_safe(path->text, text);
}

static bool path_append_of_function(const struct path *path, const struct python_owner *owner,
				    uint64_t offset)
{
	if (strcmp(owner->type->name, "function") != 0)
		return false;
	if (offset == path->offsets->function_closure)
		buffer_append_string(path->text, "closure of ");
	else if (offset == path->offsets->function_defaults)
		buffer_append_string(path->text, "default argument of ");
	else
		buffer_printf(path->text, "+%llu of ", (unsigned long long)offset);
	path_append_function(path, owner->address);
	return true;
}

/* A word in an object itself. */
static void path_append_field(const struct path *path, const struct python_edge *edge)
{
	const struct python_owner *owner = path_owner(path, edge);
	struct python_type *type = owner->type;
	uint64_t offset = edge->at - owner->address;
	uint64_t values = type->basic_size + VALUES_HEAD;

	if (type->flags & PYTHON_FLAG_TUPLE &&
	    edge->at >= owner->address + path->offsets->tuple_items) {
		buffer_printf(path->text, "[%llu] of ",
			      (unsigned long long)(offset - path->offsets->tuple_items) / 8);
		path_append_class(path, type);
		buffer_printf(path->text, " of %llu",
			      (unsigned long long)image_word(path->image,
							     owner->address + PYTHON_OBJECT_SIZE));
		return;
	}
	if (path_append_of_function(path, owner, offset) || path_append_slot(path, type, offset))
		return;
	if (path->offsets->minor >= 13 && edge->at >= owner->address + values &&
	    path_append_attribute(path, type, (offset - values) / 8))
		return;
	buffer_printf(path->text, "%+lld of ", (long long)offset);
	path_append_class(path, type);
}

/* "of list of 20" */
static void path_append_container(const struct path *path, const struct python_owner *owner)
{
	static const uint64_t counts[] = {
		[PYTHON_CONTENT_LIST] = PYTHON_OBJECT_SIZE,
		[PYTHON_CONTENT_DICT] = PYTHON_DICT_USED,
		[PYTHON_CONTENT_SET] = 24,
		[PYTHON_CONTENT_BYTEARRAY] = PYTHON_OBJECT_SIZE,
		[PYTHON_CONTENT_NONE] = PYTHON_OBJECT_SIZE,
	};

	path_append_class(path, owner->type);
	if (owner->type->content != PYTHON_CONTENT_NONE ||
	    !strcmp(owner->type->name, "collections.deque"))
		buffer_printf(path->text, " of %llu",
			      (unsigned long long)image_word(
				      path->image, owner->address + counts[owner->type->content]));
}

/* Is the dict that `field` leads to the attributes of the object that holds it? */
static bool path_is_attributes(const struct path *path, const struct python_edge *holding)
{
	const struct python_owner *owner = path_owner(path, holding);
	int64_t offset = (int64_t)(holding->at - owner->address);

	if (owner->kind != PYTHON_OWNER_OBJECT || !owner->type)
		return false;
	if (owner->type->dict_offset > 0)
		return offset == owner->type->dict_offset;
	return owner->type->dict_offset && offset == path->offsets->dict;
}

static bool path_append_global(const struct path *path, const struct python_owner *module)
{
	char text[KEY_MAX];

	buffer_append_string(path->text, " of module ");
	if (python_text_read(path->image, path->offsets,
			     image_word(path->image, module->address + PYTHON_MODULE_NAME), text,
			     sizeof(text)))
		text_append_safe(path->text, text);
	else
		buffer_append_string(path->text, "?");
	return true;
}

/*
 * An entry of a dict, whose owner may make it an attribute or a global variable. `holding` is what holds the dict, or NULL.
 * True if the text has that, too.
 */
static bool path_append_entry(const struct path *path, const struct python_edge *edge,
			      const struct python_edge *field, const struct python_edge *holding)
{
	const struct python_owner *dict = path_owner(path, field);
	bool is_key, is_attribute = holding && path_is_attributes(path, holding);
	enum python_owner_kind kind = holding ? path_owner(path, holding)->kind : PYTHON_OWNER_NONE;
	uint64_t key = path_dict_key(path, dict->address, edge, field, &is_key);
	char text[KEY_MAX];

	if (is_attribute && !is_key &&
	    python_text_read(path->image, path->offsets, key, text, sizeof(text))) {
		buffer_append_string(path->text, ".");
		text_append_safe(path->text, text);
		buffer_append_string(path->text, " of ");
		path_append_class(path, path_owner(path, holding)->type);
		return true;
	}
	if (kind == PYTHON_OWNER_MODULE)
		buffer_append_string(path->text, "global ");
	buffer_append_string(path->text, is_key ? "key [" : "[");
	path_append_key(path, key, kind == PYTHON_OWNER_MODULE || kind == PYTHON_OWNER_CLASS);
	buffer_append_string(path->text, "]");
	if (kind == PYTHON_OWNER_MODULE)
		return path_append_global(path, path_owner(path, holding));
	buffer_append_string(path->text, " of ");
	path_append_container(path, dict);
	return false;
}

/* A word in a raw block or table, which `field` leads to. True if what holds the container was written, too. */
static bool path_append_item(const struct path *path, const struct python_edge *edge,
			     const struct python_edge *field, const struct python_edge *holding)
{
	const struct python_owner *owner = path_owner(path, field);

	if (!owner->type || owner->kind >= PYTHON_OWNER_STATIC) {
		buffer_append_string(path->text, "a block");
		return false;
	}
	if (owner->kind == PYTHON_OWNER_CLASS) {
		buffer_append_string(path->text, "a block");
		return false;
	}
	if (owner->type->content == PYTHON_CONTENT_DICT)
		return path_append_entry(path, edge, field, holding);
	if (path->offsets->values &&
	    (int64_t)(field->at - owner->address) == path->offsets->values &&
	    path_append_attribute(path, owner->type,
				  (edge->at - (field->value + path->offsets->values_tag)) / 8))
		return false;
	if (owner->type->content == PYTHON_CONTENT_LIST)
		buffer_printf(path->text, "[%llu] of ",
			      (unsigned long long)(edge->at - field->value) / 8);
	else
		buffer_append_string(path->text, "in ");
	path_append_container(path, owner);
	return false;
}

static void path_append_end(const struct path *path, const struct python_edge *edge)
{
	const struct python_owner *owner = path_owner(path, edge);
	const struct image_mapping *mapping;
	char name[OBJECT_NAME_MAX];

	switch (owner->kind) {
	case PYTHON_OWNER_CLASS: {
		struct python_type *type =
			python_type_get(&path->graph->heap->types, owner->address);

		buffer_append_string(path->text, "class ");
		if (type)
			path_append_class(path, type);
		break;
	}
	case PYTHON_OWNER_MODULE:
		buffer_append_string(path->text, "module");
		break;
	case PYTHON_OWNER_STATIC:
		mapping = image_find(path->image, edge->at);
		snprintf(name, sizeof(name), "%s", mapping ? mapping->name : "");
		buffer_append_string(path->text, "data of ");
		text_append_safe(path->text,
				 strrchr(name, '/') ? strrchr(name, '/') + 1 : "a file");
		break;
	case PYTHON_OWNER_STACK:
		buffer_append_string(path->text, "the stack");
		break;
	default:
		buffer_append_string(path->text, "memory that is no object");
		break;
	}
}

/* One step, which begins with edge `i`. Returns how many edges it has. */
static size_t path_append_step(const struct path *path, const struct python_edge *edges, size_t i,
			       size_t count)
{
	const struct python_owner *owner = path_owner(path, &edges[i]);
	bool is_held;

	if (edges[i].times) {
		buffer_append_string(path->text, "...");
		return 1;
	}
	if (owner->kind == PYTHON_OWNER_OBJECT) {
		path_append_field(path, &edges[i]);
		return 1;
	}
	if (owner->kind < PYTHON_OWNER_RAW || owner->kind > PYTHON_OWNER_TABLE || i + 1 == count) {
		path_append_end(path, &edges[i]);
		return 1;
	}
	is_held = path_append_item(path, &edges[i], &edges[i + 1],
				   i + 2 < count ? &edges[i + 2] : NULL);
	return (path_owner(path, &edges[i + 1])->kind == PYTHON_OWNER_OBJECT ? 2 : 1) + is_held;
}

/* How often in a row come the `length` steps from `first` on? */
static size_t path_repeats(const struct path_step *steps, size_t first, size_t count, size_t length)
{
	size_t i;

	for (i = first + length; i < count && !strcmp(steps[i].text, steps[i - length].text); i++)
		;
	return (i - first) / length;
}

/*
 * Append the steps from `first` on: once, with their number, where they come again, as those of a chain do. Returns how many were
 * appended so.
 */
static size_t path_append_steps(struct buffer *text, const struct path_step *steps, size_t first,
				size_t count)
{
	uint64_t times = 1;
	size_t length, repeats = 1, i;

	for (length = 1; length <= LOOP_MAX && first + length <= count; length++) {
		repeats = path_repeats(steps, first, count, length);
		i = first + repeats * length;
		times = repeats + (repeats > 1 && i < count ? steps[i].times : 0);
		if (times >= REPEATS_MIN)
			break;
	}
	if (times < REPEATS_MIN || length > LOOP_MAX || first + length > count)
		length = repeats = times = 1;
	for (i = 0; i < length; i++)
		buffer_printf(text, "%s%s%s", i ? " <- " : "", !i && length > 1 ? "(" : "",
			      steps[first + i].text);
	if (times > 1)
		buffer_printf(text, "%s x %llu", length > 1 ? ")" : "", (unsigned long long)times);
	return repeats * length + (times > repeats);
}

void python_path_append(struct python_graph *graph, const struct python_edge *edges, size_t count,
			bool samples, struct buffer *text)
{
	struct buffer step = { 0 };
	struct path path = { graph, graph->heap->image, graph->heap->offsets, &step, samples };
	struct path_step *steps = memory_alloc(count + 1, sizeof(*steps));
	size_t step_count = 0, i;

	for (i = 0; i < count;) {
		buffer_clear(&step);
		steps[step_count].times = edges[i].times;
		i += path_append_step(&path, edges, i, count);
		steps[step_count++].text = memory_copy_string(step.data);
	}
	for (i = 0; i < step_count;) {
		if (i)
			buffer_append_string(text, " <- ");
		i += path_append_steps(text, steps, i, step_count);
	}
	for (i = 0; i < step_count; i++)
		free(steps[i].text);
	free(steps);
	buffer_free(&step);
}
