/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kind.h. */
#include "kinds/kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "kinds/kind_class.h"
#include "kinds/kind_names.h"
#include "kinds/kind_private.h"

#define KIND_ALL (2u << 20) /* blocks that are all looked at; of what follows, ever fewer */
#define KIND_MORE (KIND_ALL / 4)
#define KIND_ROWS 65536
#define KIND_WORDS 3 /* of a block, where a static pointer is a sign of what it is */

/* What a word that points into a module shows of a block. */
struct kind_sign {
	const char *kind; /* static; NULL = nothing */
	const char *name;
	const char *behind[KIND_WORDS + 1]; /* "NAME at +8"; NULL = not needed so far */
};

static void kind_free_blocks(struct kind_census *census)
{
	size_t i;

	for (i = 0; i < census->row_count; i++)
		free(census->rows[i]);
	free(census->rows);
	table_free(&census->by_key);
	kind_blocks_free(&census->list);
	kind_pointers_drop(&census->pointers);
}

static void kind_begin(struct kind_census *census)
{
	census->rows = NULL;
	census->row_count = census->row_capacity = 0;
	census->rest = (struct kind_row){ .kind = "other", .index = KIND_REST };
	census->blocks = census->looked = 0;
	census->every = 1;
	census->most = KIND_ALL;
}

struct kind_census *kind_census_new(struct image *image, const struct module_ranges *modules)
{
	struct kind_census *census = memory_alloc(1, sizeof(*census));

	census->image = image;
	census->modules = modules;
	census->number = 1;
	kind_begin(census);
	return census;
}

void kind_census_free(struct kind_census *census)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	if (!census)
		return;
	while ((slot = table_next(&census->signs, &cursor)))
		free(slot->value);
	table_free(&census->signs);
	kind_free_blocks(census);
	strings_free(&census->names);
	kind_trees_free(&census->trees);
	free(census);
}

/* "libfoo.so+0x12a0", marked: the address in the file. */
const char *kind_census_place(struct kind_census *census, const struct module_range *range,
			      uint64_t address)
{
	struct buffer text = { 0 };
	const char *kept;

	kind_names_mark_place(&text, census->modules, range, address);
	kept = strings_keep(&census->names, text.data);
	buffer_free(&text);
	return kept;
}

/* Does it point into memory that can be written? */
static bool kind_is_writable(const struct image *image, uint64_t word)
{
	const struct image_mapping *mapping;

	mapping = word & 7 || word < 4096 || word >> 56 ? NULL : image_find(image, word);
	return mapping && mapping->writable;
}

static bool kind_is_pointer(const struct kind_census *census, uint64_t word)
{
	return kind_is_writable(census->image, word);
}

/*
 * A static that leads to a heap, or twice to itself, is the head of a list or tree: where it lies shows little of the node that points back to it. An
 * empty bin of malloc is one, too: its address stays in blocks that were free, and nobody has written to since.
 */
static bool kind_is_head(struct kind_census *census, const struct module_range *range,
			 uint64_t address)
{
	uint64_t words[4];
	size_t i, heaps = 0, selves = 0;

	if (!module_range_is_writable(range) || address & 7 ||
	    !image_read(census->image, address, words, sizeof(words)))
		return false;
	for (i = 0; i < 4; i++) {
		range = module_ranges_at(census->modules, words[i]);
		if (range && range->kind == MODULE_CODE)
			return false;
		heaps += !range && kind_is_pointer(census, words[i]);
		selves += words[i] == address;
	}
	return heaps > 0 || selves > 1;
}

static void kind_learn(struct kind_census *census, const struct module_range *range, uint64_t word,
		       struct kind_sign *sign)
{
	struct buffer name = { 0 };

	if (range->kind == MODULE_CODE) {
		sign->kind = "function pointer";
	} else {
		switch (kind_class_find(census->image, census->modules, word, &name)) {
		case KIND_CLASS:
			sign->kind = "class";
			sign->name = strings_keep(&census->names, name.data);
			break;
		case KIND_VTABLE:
			sign->kind = "vtable";
			break;
		default:
			if (!kind_is_head(census, range, word))
				sign->kind = "static pointer";
		}
	}
	if (sign->kind && !sign->name)
		sign->name = kind_census_place(census, range, word);
	buffer_free(&name);
}

/* What `word` shows; NULL if it does not point into a module. */
static struct kind_sign *kind_sign_of(struct kind_census *census, uint64_t word)
{
	const struct module_range *range;
	struct kind_sign *sign;

	if (word < 4096 || word >> 56)
		return NULL;
	sign = table_get(&census->signs, word);
	if (sign)
		return sign->kind ? sign : NULL;
	range = module_ranges_at(census->modules, word);
	if (!range || census->signs.count >= KIND_ROWS)
		return NULL;
	sign = memory_alloc(1, sizeof(*sign));
	kind_learn(census, range, word, sign);
	table_put(&census->signs, word, sign);
	return sign->kind ? sign : NULL;
}

struct kind_row *kind_census_row(struct kind_census *census, const struct kind_key *key)
{
	uint64_t hash = hash_word(HASH_BEGIN, (uintptr_t)key->kind);
	struct kind_row *row;

	hash = hash_word(hash_word(hash, (uintptr_t)key->name), key->size);
	hash = hash_word(hash, (uintptr_t)key->holder);
	row = table_get(&census->by_key, hash);
	if (row || census->row_count >= KIND_ROWS)
		return row ? row : &census->rest;
	row = memory_alloc(1, sizeof(*row));
	row->kind = key->kind;
	row->name = key->name;
	row->holder = key->holder;
	row->size = key->size;
	row->index = (uint32_t)census->row_count;
	census->rows = memory_grow(census->rows, census->row_count, &census->row_capacity,
				   sizeof(struct kind_row *));
	census->rows[census->row_count++] = row;
	table_put(&census->by_key, hash, row);
	return row;
}

static struct kind_row *kind_row_of(struct kind_census *census, const char *kind, const char *name,
				    uint64_t size)
{
	return kind_census_row(census, &(struct kind_key){ kind, name, NULL, size });
}

static bool kind_is_zero(const unsigned char *bytes, size_t length)
{
	return !length || (!bytes[0] && !memcmp(bytes, bytes + 1, length - 1));
}

static uint64_t kind_word(const unsigned char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* At least four characters and a NUL, or text to the end of what is looked at. */
static bool kind_is_text(const struct kind_census *census, const unsigned char *bytes,
			 size_t length)
{
	size_t i;

	for (i = 0; i < length && bytes[i]; i++) {
		unsigned char byte = bytes[i];

		if (byte == 127 || (byte < ' ' && byte != '\t' && byte != '\n' && byte != '\r') ||
		    (byte >= 0x80 && byte < 0xc2 && (!i || bytes[i - 1] < 0x80)) || byte > 0xf4)
			return false;
	}
	/* The bytes of an address can be a text. */
	if (i < 8 && length >= 8 && kind_is_pointer(census, kind_word(bytes)))
		return false;
	return i >= 4 && (i < length || length == KIND_LOOK);
}

/* Do half of the words that are not 0 point into memory that can be written? */
static bool kind_is_pointers(const struct kind_census *census, const unsigned char *bytes,
			     size_t length)
{
	size_t at, words = 0, pointers = 0;

	for (at = 0; at + 8 <= length && at < 64; at += 8) {
		uint64_t word = kind_word(bytes + at);

		words += word != 0;
		pointers += kind_is_pointer(census, word);
	}
	return pointers && pointers * 2 >= words;
}

/* A structure with a pointer to something static behind its first word. */
static struct kind_row *kind_row_of_words(struct kind_census *census, const unsigned char *bytes,
					  size_t length, uint64_t size)
{
	struct kind_sign *sign;
	char *name;
	size_t i;

	for (i = 1; i <= KIND_WORDS && i * 8 + 8 <= length; i++) {
		sign = kind_sign_of(census, kind_word(bytes + i * 8));
		if (!sign)
			continue;
		if (!sign->behind[i]) {
			name = memory_format("%s at +%zu", sign->name, i * 8);
			sign->behind[i] = strings_keep(&census->names, name);
			free(name);
		}
		return kind_row_of(census, "struct with", sign->behind[i], size);
	}
	return NULL;
}

static struct kind_row *kind_classify(struct kind_census *census, const struct census_block *block,
				      size_t length)
{
	const unsigned char *bytes = block->bytes;
	const struct kind_sign *sign = length >= 8 ? kind_sign_of(census, kind_word(bytes)) : NULL;
	uint64_t size = block->size;
	struct kind_row *row;

	if (sign)
		return kind_row_of(census, sign->kind, sign->name, size);
	if (kind_is_zero(bytes, length))
		return kind_row_of(census, "zeroes", NULL, size);
	if (kind_is_text(census, bytes, length))
		return kind_row_of(census, "text", NULL, 0);
	row = kind_row_of_words(census, bytes, length, size);
	if (row)
		return row;
	if (kind_trees_has(&census->trees, census->image, block->address, size, bytes, length,
			   kind_is_writable))
		return kind_row_of(census, "tree node", NULL, size);
	return kind_row_of(census, kind_is_pointers(census, bytes, length) ? "pointers" : "data",
			   NULL, size);
}

bool kind_census_takes(uint64_t address, uint64_t every)
{
	return every <= 1 || !(hash_word(HASH_BEGIN, address) >> 32 & (every - 1));
}

static void kind_double_sample(struct kind_census *census)
{
	census->every *= 2;
	census->most += KIND_MORE;
	kind_blocks_thin(&census->list, kind_census_takes, census->every);
	/* Of a sample it is not known. */
	kind_pointers_drop(&census->pointers);
}

/* Each block is in a sample by itself: one that is seen shows how much the sum may be off by it. */
static void kind_add_variance(struct kind_row *row, double every, double size)
{
	row->blocks_variance += every * (every - 1);
	row->bytes_variance += every * (every - 1) * size * size;
}

static bool kind_see(void *context, const struct census_block *block)
{
	struct kind_census *census = context;
	size_t length = block->length < KIND_LOOK ? block->length : KIND_LOOK;
	struct kind_row *row;

	census->blocks++;
	if (census->looked >= census->most)
		kind_double_sample(census);
	/* Which blocks are left out does not depend on what they are; each of the others counts for several. */
	if (!kind_census_takes(block->address, census->every))
		return true;
	census->looked++;
	kind_pointers_add(&census->pointers, block);
	row = block->bytes && length ? kind_classify(census, block, length)
				     : kind_row_of(census, "not in memory", NULL, 0);
	row->blocks += census->every;
	row->bytes += census->every * block->size;
	kind_add_variance(row, (double)census->every, (double)block->size);
	row->address = row->address ? row->address : block->address;
	/* What is behind a text has stayed there. */
	if (!strcmp(row->kind, "text"))
		length = strnlen((const char *)block->bytes, length);
	if (census->is_kept)
		kind_blocks_add(&census->list, block->address, block->size, block->bytes, length,
				row->index, census->number);
	return true;
}

struct census_sink kind_census_sink(struct kind_census *census)
{
	return (struct census_sink){ .block = kind_see, .context = census };
}

bool kind_census_pass(const struct kind_census *census, const struct census_sink *sink)
{
	struct census_block block = { 0 };
	size_t i;

	if (!census->is_kept || census->every > 1 || !census->list.count)
		return false;
	for (i = 0; i < census->list.count; i++) {
		block.address = census->list.items[i].address;
		block.size = census->list.items[i].bytes;
		if (!sink->block(sink->context, &block))
			break;
	}
	return true;
}

void kind_census_list(const struct kind_census *census,
		      void (*each)(void *context, uint64_t address, const char *kind,
				   const char *name),
		      void *context)
{
	size_t i;

	for (i = 0; i < census->list.count; i++) {
		const struct kind_block *block = &census->list.items[i];
		const struct kind_row *row =
			block->row < census->row_count ? census->rows[block->row] : &census->rest;

		each(context, block->address, row->kind, row->name);
	}
}

void kind_census_keep(struct kind_census *census, const struct kind_census *before)
{
	census->is_kept = true;
	census->number = before ? before->number + 1 : 1;
}

void kind_census_expect_holders(struct kind_census *census, uint64_t max_bytes)
{
	kind_pointers_begin(&census->pointers, census->image, max_bytes);
}

void kind_census_end(struct kind_census *census)
{
	census->image = NULL;
	census->modules = NULL;
	kind_pointers_drop(&census->pointers);
	kind_blocks_sort(&census->list);
}
