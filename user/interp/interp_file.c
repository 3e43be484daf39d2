/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_file.h. */
#include "interp/interp_file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "elf/elf_symbol.h"

/* How far a file is searched for a text, and in which steps. */
#define SEARCH_MAX (64u << 20)
#define SEARCH_STEP (64u << 10)

uint64_t interp_file_symbol(struct elf_file *file, const char *name)
{
	struct elf_symbol symbol;

	return elf_symbol_find_exported(file, name, &symbol) ? symbol.address : 0;
}

void interp_file_set_loop(struct elf_file *file, const char *name, struct interp_file *interp)
{
	struct elf_symbol symbol;

	if (!elf_symbol_find(file, name, &symbol))
		return;
	interp->loop = symbol.address;
	interp->loop_size = symbol.size;
}

size_t interp_file_read_at(struct elf_file *file, uint64_t address, void *bytes, size_t size)
{
	uint64_t offset;

	if (!address || !elf_file_address_to_offset(file, address, &offset))
		return 0;
	return elf_file_read(file, offset, bytes, size);
}

void interp_file_set_version(struct interp_file *interp, const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && i < sizeof(interp->version) - 1 && isgraph((unsigned char)text[i]);
	     i++)
		interp->version[i] = text[i];
	interp->version[i] = '\0';
}

unsigned int interp_file_search(struct elf_file *file,
				unsigned int (*find)(const char *bytes, size_t count))
{
	char bytes[SEARCH_STEP];
	unsigned int found = 0;
	uint64_t at = 0;
	size_t size;

	while (!found && at < SEARCH_MAX) {
		size = elf_file_read(file, at, bytes, SEARCH_STEP);
		if (size > INTERP_TEXT_MAX)
			found = find(bytes, size - INTERP_TEXT_MAX);
		if (size < SEARCH_STEP)
			break;
		at += SEARCH_STEP - INTERP_TEXT_MAX;
	}
	return found;
}

const char *interp_file_describe(const struct interp_file *file, char text[64])
{
	static const char *const titles[] = {
#define FILE_TITLE(NAME, word, title) [INTERP_##NAME] = title,
		INTERP_LIST(FILE_TITLE)
#undef FILE_TITLE
	};

	snprintf(text, 64, "%s %s", titles[file->kind],
		 file->version[0] ? file->version : "of an unknown version");
	return text;
}
