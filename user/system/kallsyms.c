/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kallsyms.h. One copy of the file holds all names; lines are cut in place. */
#include "system/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/compare.h"
#include "base/memory.h"

/* With a million functions, and names of 64 bytes. */
#define FILE_MAX (128u << 20)
#define CHUNK 65536

struct kallsym {
	uint64_t address;
	char *function, *module; /* in the text */
};

struct kallsyms {
	char *text;
	/* By address; of those at one address the first of the file comes first. */
	struct kallsym *items;
	size_t count, capacity;
};

/* Cut the next word off. NULL if there is none. */
static char *kallsyms_word(char **at)
{
	char *word = *at + strspn(*at, " \t"), *end = word + strcspn(word, " \t");

	if (end == word)
		return NULL;
	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/* "[name]" without its brackets. NULL if it has none. */
static char *kallsyms_module(char *word)
{
	size_t length = word ? strlen(word) : 0;

	if (length < 3 || word[0] != '[' || word[length - 1] != ']')
		return NULL;
	word[length - 1] = '\0';
	return word + 1;
}

/* "ffffffff81000000 T name" or "ffffffffc0000000 t name\t[module]". False if the line is of no function. */
static bool kallsyms_parse_line(char *line, struct kallsym *ret_symbol)
{
	char *at = line, *address = kallsyms_word(&at), *kind = address ? kallsyms_word(&at) : NULL;
	char *name = kind ? kallsyms_word(&at) : NULL, *end;

	if (!name || strlen(kind) != 1 || !strchr("tTwW", *kind) || strlen(address) > 16 ||
	    address[strspn(address, "0123456789abcdefABCDEF")])
		return false;
	*ret_symbol = (struct kallsym){
		.address = strtoull(address, &end, 16),
		.function = name,
		.module = kallsyms_module(kallsyms_word(&at)),
	};
	return ret_symbol->address != 0;
}

static int kallsyms_compare(const void *a, const void *b)
{
	const struct kallsym *left = a, *right = b;
	int order = compare_numbers(left->address, right->address);

	return order ? order : compare_pointers(left->function, right->function);
}

struct kallsyms *kallsyms_parse(const char *text, size_t length)
{
	struct kallsyms *symbols = memory_alloc(1, sizeof(*symbols));
	struct kallsym symbol;
	char *line, *end, *stop;

	symbols->text = memory_alloc(length + 1, 1);
	if (length)
		memcpy(symbols->text, text, length);
	stop = symbols->text + length;
	for (line = symbols->text; line < stop; line = end + 1) {
		end = memchr(line, '\n', (size_t)(stop - line));
		if (!end)
			end = stop;
		*end = '\0';
		if (!kallsyms_parse_line(line, &symbol))
			continue;
		symbols->items = memory_grow(symbols->items, symbols->count, &symbols->capacity,
					     sizeof(*symbols->items));
		symbols->items[symbols->count++] = symbol;
	}
	if (symbols->count)
		qsort(symbols->items, symbols->count, sizeof(*symbols->items), kallsyms_compare);
	return symbols;
}

static int kallsyms_read_text(const char *path, struct buffer *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), code = 0;
	char *chunk;
	ssize_t got;

	if (fd < 0)
		return -errno;
	chunk = memory_alloc(CHUNK, 1);
	while ((got = read(fd, chunk, CHUNK)) > 0 && !code) {
		buffer_append(text, chunk, (size_t)got);
		if (text->length > FILE_MAX)
			code = -EFBIG;
	}
	if (got < 0)
		code = -errno;
	free(chunk);
	close(fd);
	return code;
}

int kallsyms_read(const char *path, struct kallsyms **ret_symbols)
{
	struct buffer text = { 0 };
	int code = kallsyms_read_text(path, &text);

	if (!code) {
		*ret_symbols = kallsyms_parse(text.data, text.length);
		if (!(*ret_symbols)->count) {
			kallsyms_free(*ret_symbols);
			*ret_symbols = NULL;
			code = -EPERM;
		}
	}
	buffer_free(&text);
	return code;
}

void kallsyms_free(struct kallsyms *symbols)
{
	if (!symbols)
		return;
	free(symbols->items);
	free(symbols->text);
	free(symbols);
}

size_t kallsyms_count(const struct kallsyms *symbols)
{
	return symbols->count;
}

bool kallsyms_find(const struct kallsyms *symbols, uint64_t address,
		   struct kallsyms_place *ret_place)
{
	size_t low = 0, high = symbols->count, middle;
	const struct kallsym *found;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (symbols->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - symbols->items[low - 1].address >= KALLSYMS_FUNCTION_MAX)
		return false;
	for (found = &symbols->items[low - 1];
	     found > symbols->items && found[-1].address == found->address;)
		found--;
	*ret_place = (struct kallsyms_place){ .function = found->function,
					      .module = found->module,
					      .offset = address - found->address };
	return true;
}
