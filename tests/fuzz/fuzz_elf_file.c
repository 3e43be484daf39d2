/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library in which any bytes are changed, read as the tracer itself reads the files of its targets, with all its
 * privileges. The library is compiled at the start. Each four bytes of the input are a place in it (24 bits) and the byte
 * to put there; a place of 0xffffff cuts the file off instead. Without input it must be read right.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "changed_file.h"
#include "elf/elf_file.h"
#include "elf/elf_plt.h"
#include "elf/elf_symbol.h"

#define BUILD_ID_SIZE 20
#define STEP 8

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	changed_file_compile("-g0 -Wl,--build-id=sha1");
	return 0;
}

static bool count_function(void *context, const struct elf_function *function)
{
	size_t *count = context;

	MUST(function->name && strlen(function->name) < changed_original.length);
	return ++*count < changed_original.length;
}

static size_t check_names(struct elf_file *file)
{
	char link[ELF_LINK_NAME_MAX], plt[ELF_PLT_NAME_MAX];
	struct elf_symbol symbol;
	size_t count = 0;
	uint32_t crc;
	uint64_t at;

	elf_file_functions(file, count_function, &count);
	if (elf_file_debug_link(file, link, &crc))
		MUST(strnlen(link, sizeof(link)) < sizeof(link));
	for (at = 0; at < changed_original.length; at += STEP)
		if (elf_plt_name(file, at, plt))
			MUST(strnlen(plt, sizeof(plt)) < sizeof(plt));
	elf_symbol_find(file, "malloc", &symbol);
	elf_symbol_find_exported(file, "malloc", &symbol);
	return count;
}

static void check_contents(struct elf_file *file, size_t length)
{
	unsigned char bytes[64], id[BUILD_ID_SIZE];
	uint64_t address, offset, at;

	MUST(elf_file_build_id(file, id, sizeof(id)) <= sizeof(id));
	for (at = 0; at < length + 2 * sizeof(bytes); at += 61)
		MUST(elf_file_read(file, at, bytes, sizeof(bytes)) <= sizeof(bytes));
	MUST(!elf_file_read(file, UINT64_MAX - 8, bytes, sizeof(bytes)));
	for (at = 0; at < length; at += STEP)
		if (elf_file_offset_to_address(file, at, &address))
			elf_file_address_to_offset(file, address, &offset);
	elf_file_has_section(file, ".text");
	elf_file_interpreter(file);
	elf_file_has_symbols(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length, functions;
	int fd = changed_file_write(data, size, &length);
	struct elf_file *file = elf_file_open(fd, NULL);

	MUST(file || size >= 4);
	if (file) {
		functions = check_names(file);
		MUST(functions || size >= 4);
		check_contents(file, length);
		elf_file_add_symbols(file, fd);
		check_names(file);
		elf_file_close(file);
	}
	close(fd);
	return 0;
}
