/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_type.h. */
#include "python/python_type.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "image/image_keep.h"
#include "python/python_text.h"

/* How often a type is read whose pages were there a moment ago, and how often what is like a type and leads nowhere; of all types. */
#define READS_MAX 200u
#define LOOKS_MAX 20u
#define WAITS_MAX 20000u

/* A metaclass has a metaclass, and so on. */
#define METACLASSES_MAX 8

#define BASIC_SIZE_MAX (1u << 20)
#define ITEM_SIZE_MAX 4096u
#define SCAN_STEP (64u << 10)
#define SCAN_MAX (256u << 20) /* of data that is searched for the root */

static uint64_t type_word(const unsigned char *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* The type's name, which is printable. False if it is not. */
static bool type_read_name(struct image *image, uint64_t address, char name[PYTHON_TYPE_TEXT])
{
	size_t length = image_read_part(image, address, name, PYTHON_TYPE_TEXT - 1), i;

	for (i = 0; i < length && name[i]; i++)
		if ((unsigned char)name[i] <= ' ' || name[i] == 127)
			return false;
	name[i] = '\0';
	return i;
}

bool python_type_is_root(struct image *image, uint64_t address)
{
	unsigned char bytes[PYTHON_TYPE_BYTES];
	char name[PYTHON_TYPE_TEXT];

	return address && !(address & 7) && image_read(image, address, bytes, sizeof(bytes)) &&
	       type_word(bytes, PYTHON_OBJECT_TYPE) == address &&
	       type_word(bytes, PYTHON_TYPE_BASICSIZE) >= PYTHON_TYPE_LEAST &&
	       type_word(bytes, PYTHON_TYPE_BASICSIZE) <= BASIC_SIZE_MAX &&
	       type_word(bytes, PYTHON_TYPE_FLAGS) & PYTHON_FLAG_TYPE &&
	       type_read_name(image, type_word(bytes, PYTHON_TYPE_NAME), name) &&
	       !strcmp(name, "type");
}

/* Search bytes of data for what has its own address as its second word. */
static uint64_t type_search(struct image *image, const uint64_t *words, size_t count, uint64_t at)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (words[i] == at + (i - 1) * 8 && python_type_is_root(image, words[i]))
			return words[i];
	return 0;
}

uint64_t python_type_find_root(struct image *image)
{
	uint64_t *words = memory_alloc(SCAN_STEP / 8, 8), start, end, found = 0, read = 0, size;
	size_t i;

	for (i = 0; i < image->mapping_count && !found; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (!mapping->inode || !mapping->writable || mapping->shared)
			continue;
		start = mapping->start;
		while (!found && read < SCAN_MAX &&
		       image_next_present(image, start, mapping->end, &start, &end)) {
			size = end - start < SCAN_STEP ? end - start : SCAN_STEP;
			size = image_read_part(image, start, words, size) & ~7ull;
			found = type_search(image, words, size / 8, start);
			start += size ? size : image->page_size;
			read += SCAN_STEP;
		}
	}
	free(words);
	return found;
}

static bool type_is_sane(const unsigned char *bytes)
{
	uint64_t flags = type_word(bytes, PYTHON_TYPE_FLAGS);

	return type_word(bytes, 0) && flags & PYTHON_FLAG_READY && flags <= UINT32_MAX &&
	       type_word(bytes, PYTHON_TYPE_BASICSIZE) >= PYTHON_OBJECT_HEAD &&
	       type_word(bytes, PYTHON_TYPE_BASICSIZE) <= BASIC_SIZE_MAX &&
	       type_word(bytes, PYTHON_TYPE_ITEMSIZE) <= ITEM_SIZE_MAX;
}

/* Does the chain of types of a type end at the root, with nothing but types in it? */
static bool type_has_root(struct python_types *types, uint64_t type)
{
	unsigned char bytes[PYTHON_TYPE_BYTES];
	int i;

	for (i = 0; i < METACLASSES_MAX; i++) {
		if (type == types->type)
			return true;
		if (!type || type & 7 || !image_read(types->image, type, bytes, sizeof(bytes)) ||
		    !type_is_sane(bytes) ||
		    !(type_word(bytes, PYTHON_TYPE_FLAGS) & PYTHON_FLAG_TYPE))
			return false;
		type = type_word(bytes, PYTHON_OBJECT_TYPE);
	}
	return false;
}

static enum python_content type_content(const struct python_type *type)
{
	if (type->flags & PYTHON_FLAG_LIST)
		return PYTHON_CONTENT_LIST;
	if (type->flags & PYTHON_FLAG_DICT)
		return PYTHON_CONTENT_DICT;
	if (!strcmp(type->name, "set") || !strcmp(type->name, "frozenset"))
		return PYTHON_CONTENT_SET;
	if (!strcmp(type->name, "bytearray"))
		return PYTHON_CONTENT_BYTEARRAY;
	return PYTHON_CONTENT_NONE;
}

/*
 * A page that the kernel moves is not there for a moment. A type that is missed for that takes all of its objects with it, so it is worth
 * waiting for, but not for all of memory.
 */
static bool type_read(struct python_types *types, uint64_t address, unsigned char *bytes)
{
	unsigned int i;

	for (i = 0; !image_read(types->image, address, bytes, PYTHON_TYPE_BYTES); i++) {
		if (i >= READS_MAX || types->waits >= WAITS_MAX ||
		    !(image_page(types->image, address) & IMAGE_PRESENT))
			return false;
		types->waits++;
		sched_yield();
	}
	return true;
}

static bool type_look_again(struct python_types *types, uint64_t address, unsigned char *bytes,
			    char name[PYTHON_TYPE_TEXT])
{
	unsigned int looks;

	for (looks = 0; type_read(types, address, bytes) && type_is_sane(bytes); looks++) {
		if (type_has_root(types, type_word(bytes, PYTHON_OBJECT_TYPE)) &&
		    type_read_name(types->image, type_word(bytes, PYTHON_TYPE_NAME), name))
			return true;
		if (looks >= LOOKS_MAX || types->waits >= WAITS_MAX)
			break;
		types->waits++;
		image_keep_pass_by(types->image, true);
		sched_yield();
	}
	return false;
}

/* Wait for what its type and its name are, too: false if there is no type. */
static bool type_check(struct python_types *types, uint64_t address, unsigned char *bytes,
		       char name[PYTHON_TYPE_TEXT])
{
	bool is_type = type_look_again(types, address, bytes, name);

	image_keep_pass_by(types->image, false);
	return is_type;
}

static struct python_type *type_look(struct python_types *types, uint64_t address)
{
	const struct image_mapping *mapping = image_find(types->image, address);
	struct python_type type = { .address = address }, *kept;
	unsigned char bytes[PYTHON_TYPE_BYTES];

	if (!mapping || !mapping->writable || mapping->shared)
		return NULL;
	types->asked++;
	if (!type_check(types, address, bytes, type.name))
		return NULL;
	type.flags = type_word(bytes, PYTHON_TYPE_FLAGS);
	type.head = (type.flags & PYTHON_FLAG_GC ? 16 : 0) +
		    (type.flags & types->offsets->managed ? 16 : 0);
	/* A str may be smaller than its type claims. */
	type.least_size = type.head + (type.flags & PYTHON_FLAG_STR
					       ? types->offsets->text
					       : type_word(bytes, PYTHON_TYPE_BASICSIZE));
	type.basic_size = type_word(bytes, PYTHON_TYPE_BASICSIZE);
	type.item_size = type_word(bytes, PYTHON_TYPE_ITEMSIZE);
	type.dict = type_word(bytes, PYTHON_TYPE_DICT);
	type.dict_offset = (int64_t)type_word(bytes, PYTHON_TYPE_DICTOFFSET);
	type.weak_offset = (int64_t)type_word(bytes, PYTHON_TYPE_WEAKLIST);
	type.content = type_content(&type);
	type.is_code = !(type.flags & PYTHON_FLAG_HEAP_TYPE) && !strcmp(type.name, "code");
	kept = memory_alloc(1, sizeof(*kept));
	*kept = type;
	table_put(&types->by_address, address, kept);
	return kept;
}

struct python_type *python_type_get(struct python_types *types, uint64_t address)
{
	size_t place = (address >> 4 ^ address >> 18) % PYTHON_TYPE_RECENT;
	struct python_type *type;

	/* Neither small numbers nor addresses of the kernel. */
	if (address & 7 || address < 0x1000 || address >> 47)
		return NULL;
	if (types->recent[place].address == address)
		return types->recent[place].type;
	if (types->excludes && types->excludes(types->context, address))
		return NULL;
	type = table_get(&types->by_address, address);
	if (!type)
		type = type_look(types, address);
	types->recent[place].address = address;
	types->recent[place].type = type;
	return type;
}

void python_type_free(struct python_types *types)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&types->by_address, &cursor))) {
		struct python_type *type = slot->value;

		free(type->description);
		free(type);
	}
	table_free(&types->by_address);
}

/* The names of a class that a program has made. False if they cannot be read. */
static bool type_read_names(struct python_types *types, const struct python_type *type,
			    char name[PYTHON_TEXT_BYTES], char module[PYTHON_TEXT_BYTES])
{
	uint64_t text = image_word(types->image, type->address + types->offsets->qualname);
	struct python_entry entry = { .key = types->module_key };

	module[0] = '\0';
	if (!python_text_read(types->image, types->offsets, text, name, PYTHON_TEXT_BYTES)) {
		name[0] = '\0';
		return false;
	}
	if (!python_dict_find(types->image, types->offsets, type->dict, "__module__", &entry))
		return false;
	types->module_key = entry.key;
	return python_text_read(types->image, types->offsets, entry.value, module,
				PYTHON_TEXT_BYTES);
}

static char *type_read_description(struct python_types *types, const struct python_type *type)
{
	char name[PYTHON_TEXT_BYTES] = "", module[PYTHON_TEXT_BYTES] = "";
	struct buffer text = { 0 };
	unsigned int looks;

	if (type->flags & PYTHON_FLAG_HEAP_TYPE)
		for (looks = 0; !type_read_names(types, type, name, module) && looks < LOOKS_MAX &&
				types->waits < WAITS_MAX;
		     looks++, types->waits++) {
			image_keep_pass_by(types->image, true);
			sched_yield();
		}
	image_keep_pass_by(types->image, false);
	if (name[0] && module[0] && strcmp(module, "builtins") != 0)
		buffer_printf(&text, "%s.", module);
	buffer_append_string(&text, name[0] ? name : type->name);
	return text.data;
}

const char *python_type_describe(struct python_types *types, struct python_type *type)
{
	if (!type->description)
		type->description = type_read_description(types, type);
	return type->description;
}
