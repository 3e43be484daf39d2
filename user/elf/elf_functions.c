/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The function symbols of an ELF file: see elf_file.h. Tables of symbols are copied out of the file and read there, each
 * entry on its own: what makes no sense is left out, the rest counts. Of the strings, only the names of functions are kept.
 */
#include "base/hash.h"
#include "elf/elf_file_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "elf/elf_strings.h"

/* More than any honest file has. All limits are per table. */
#define SYMBOLS_MAX (4u << 20)
#define NAME_MAX_LENGTH (64u << 10)
/* Names may overlap, so that a small file could have terabytes of them. Those of all tables of a file together are kept. */
#define NAMES_TOTAL_MAX (256ull << 20)

/* Names are kept in blocks of this size. */
#define NAMES_BLOCK (256u << 10)

struct functions_reader {
	struct elf_file *file; /* whose functions are wanted */
	struct table seen; /* (name, offset) by hash */
	uint64_t names_total;
	char name[NAME_MAX_LENGTH + 1]; /* of the current symbol */
};

/* Equal hashes count as equal: a chance meeting of two names at one offset would take 2^32 of them. */
static bool functions_is_new(struct functions_reader *reader, const char *name, size_t length,
			     uint64_t offset)
{
	uint64_t key = hash_bytes(HASH_BEGIN, &offset, sizeof(offset));

	key = hash_bytes(key, name, length);
	if (table_get(&reader->seen, key))
		return false;
	table_put(&reader->seen, key, reader);
	return true;
}

static bool functions_is_function(const Elf64_Sym *symbol)
{
	unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_shndx != SHN_ABS && symbol->st_shndx != SHN_COMMON;
}

/* The length of the name without "@VERSION", which static symbol tables have. 0 = it cannot be used. */
static size_t functions_name_length(const char *name, size_t length)
{
	const char *version;

	if (length == NAME_MAX_LENGTH)
		return 0;
	version = memchr(name, '@', length);
	return version ? (size_t)(version - name) : length;
}

/* A copy of the name that lives as long as the file. */
static const char *functions_keep_name(struct elf_file *file, const char *name, size_t length)
{
	char *kept;

	if (!file->string_count || length + 1 > file->string_left) {
		file->strings = memory_grow(file->strings, file->string_count,
					    &file->string_capacity, sizeof(*file->strings));
		file->strings[file->string_count++] = memory_alloc(1, NAMES_BLOCK);
		file->string_left = NAMES_BLOCK;
	}
	kept = file->strings[file->string_count - 1] + NAMES_BLOCK - file->string_left;
	memcpy(kept, name, length);
	kept[length] = '\0';
	file->string_left -= length + 1;
	return kept;
}

static void functions_add(struct functions_reader *reader, const Elf64_Sym *symbol,
			  struct elf_strings *strings)
{
	struct elf_file *file = reader->file;
	size_t length;
	uint64_t offset;

	if (!elf_file_code_offset(file, symbol->st_value, &offset))
		return;
	length = elf_strings_copy(strings, symbol->st_name, reader->name, NAME_MAX_LENGTH);
	reader->names_total += length;
	length = functions_name_length(reader->name, length);
	if (!length || !functions_is_new(reader, reader->name, length, offset))
		return;
	file->functions = memory_grow(file->functions, file->function_count,
				      &file->function_capacity, sizeof(*file->functions));
	file->functions[file->function_count++] = (struct elf_function){
		.name = functions_keep_name(file, reader->name, length),
		.file_offset = offset,
		.size = symbol->st_size <= file->size - offset ? symbol->st_size : 0,
		.indirect = ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC,
	};
}

static void functions_read_table(struct functions_reader *reader, struct elf_file *source,
				 const Elf64_Shdr *table)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym), i;
	Elf_Scn *section = elf_getscn(source->elf, table->sh_link);
	struct elf_strings strings;
	Elf64_Sym *symbols;

	if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_flags & SHF_COMPRESSED)
		return;
	symbols = elf_file_copy(source, table->sh_offset, count * sizeof(Elf64_Sym),
				SYMBOLS_MAX * sizeof(Elf64_Sym));
	if (symbols &&
	    elf_strings_open(&strings, source, section ? elf64_getshdr(section) : NULL)) {
		for (i = 0; i < count && reader->names_total < NAMES_TOTAL_MAX; i++)
			if (functions_is_function(&symbols[i]))
				functions_add(reader, &symbols[i], &strings);
		elf_strings_close(&strings);
	}
	free(symbols);
}

/* A file has at most one table of a type; of more, only the first is believed. */
static void functions_read_type(struct functions_reader *reader, struct elf_file *source,
				uint32_t type)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(source->elf, section))) {
		const Elf64_Shdr *header = elf64_getshdr(section);

		if (header && header->sh_type == type) {
			functions_read_table(reader, source, header);
			return;
		}
	}
}

static void functions_read_debugdata(struct functions_reader *reader)
{
	struct elf_file *source = elf_debugdata_open(reader->file);

	if (source)
		functions_read_type(reader, source, SHT_SYMTAB);
	elf_file_close(source);
}

void elf_functions_read(struct elf_file *file)
{
	struct functions_reader *reader = memory_alloc(1, sizeof(*reader));

	reader->file = file;
	functions_read_type(reader, file, SHT_DYNSYM);
	functions_read_type(reader, file, SHT_SYMTAB);
	functions_read_debugdata(reader);
	table_free(&reader->seen);
	free(reader);
}

bool elf_file_has_symbols(struct elf_file *file)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		const Elf64_Shdr *header = elf64_getshdr(section);

		if (header && header->sh_type == SHT_SYMTAB)
			return true;
	}
	return false;
}

static bool functions_see_old(void *context, const struct elf_function *function)
{
	functions_is_new(context, function->name, strlen(function->name), function->file_offset);
	return true;
}

bool elf_file_add_symbols(struct elf_file *file, int fd)
{
	struct elf_file *source = elf_file_open(fd, NULL);
	struct functions_reader *reader;

	if (!source)
		return false;
	reader = memory_alloc(1, sizeof(*reader));
	reader->file = file;
	elf_file_functions(file, functions_see_old, reader);
	functions_read_type(reader, source, SHT_SYMTAB);
	table_free(&reader->seen);
	free(reader);
	elf_file_close(source);
	return true;
}

void elf_file_functions(struct elf_file *file,
			bool (*visit)(void *context, const struct elf_function *function),
			void *context)
{
	size_t i;

	if (!file->functions_read)
		elf_functions_read(file);
	file->functions_read = true;
	for (i = 0; i < file->function_count; i++)
		if (!visit(context, &file->functions[i]))
			return;
}
