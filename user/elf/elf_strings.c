/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See elf_strings.h. */
#include "elf/elf_strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* More than any honest file has. */
#define STRINGS_MAX (1u << 30)

/* 64 MiB: when more parts would be kept, all are let go. */
#define HELD_MAX 1024u

/* Strings in a bad order have parts read again and again. */
#define READ_MAX ((uint64_t)2 << 30)

bool elf_strings_open(struct elf_strings *strings, struct elf_file *file, const Elf64_Shdr *header)
{
	*strings = (struct elf_strings){ .file = file };
	if (!header || header->sh_type != SHT_STRTAB || header->sh_flags & SHF_COMPRESSED ||
	    header->sh_size > STRINGS_MAX || header->sh_offset > file->size ||
	    header->sh_size > file->size - header->sh_offset)
		return false;
	strings->offset = header->sh_offset;
	strings->size = header->sh_size;
	strings->parts =
		memory_alloc(strings->size / ELF_STRINGS_PART + 1, sizeof(*strings->parts));
	return true;
}

static void strings_let_go(struct elf_strings *strings)
{
	size_t count = strings->size / ELF_STRINGS_PART + 1, i;

	for (i = 0; strings->parts && i < count; i++) {
		free(strings->parts[i]);
		strings->parts[i] = NULL;
	}
	strings->held = 0;
}

void elf_strings_close(struct elf_strings *strings)
{
	strings_let_go(strings);
	free(strings->parts);
	strings->parts = NULL;
}

/* The bytes from `at` on that are in one part, and their number. NULL if they cannot be read. */
static const char *strings_part(struct elf_strings *strings, uint64_t at, size_t *ret_size)
{
	uint64_t number = at / ELF_STRINGS_PART, start = number * ELF_STRINGS_PART;
	size_t size = ELF_STRINGS_PART;
	char *part;

	if (size > strings->size - start)
		size = (size_t)(strings->size - start);
	*ret_size = size - (size_t)(at - start);
	if (strings->parts[number])
		return strings->parts[number] + (at - start);
	if (strings->read >= READ_MAX)
		return NULL;
	if (strings->held == HELD_MAX)
		strings_let_go(strings);
	part = memory_alloc(1, size);
	strings->read += size;
	if (elf_file_read(strings->file, strings->offset + start, part, size) != size) {
		free(part);
		return NULL;
	}
	strings->parts[number] = part;
	strings->held++;
	return part + (at - start);
}

size_t elf_strings_copy(struct elf_strings *strings, uint64_t at, char *name, size_t capacity)
{
	size_t length = 0, size, part_length;
	const char *part;

	while (at < strings->size && length < capacity) {
		part = strings_part(strings, at, &size);
		if (!part)
			return 0;
		if (size > capacity - length)
			size = capacity - length;
		part_length = strnlen(part, size);
		memcpy(name + length, part, part_length);
		length += part_length;
		at += part_length;
		if (part_length < size)
			break;
	}
	return length;
}
