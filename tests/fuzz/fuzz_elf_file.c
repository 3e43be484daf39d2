/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A library in which any bytes are changed, read as the tracer itself reads the files of its targets, with all its
 * privileges. The library is compiled at the start. Each four bytes of the input are a place in it (24 bits) and the byte
 * to put there; a place of 0xffffff cuts the file off instead. Without input it must be read right.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/elf_file.h"
#include "system/elf_plt.h"
#include "system/elf_symbol.h"

#define MUST(condition)           \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

#define BUILD_ID_SIZE 20
#define STEP 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct buffer library;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned char bytes[4096];
	size_t length;
	FILE *file;

	(void)argc, (void)argv;
	file = popen("file=$(mktemp) && g++ -O2 -g0 -shared -fPIC -Wl,--build-id=sha1 "
		     "tests/data/symbolizer/program.cc -o $file && cat $file && rm $file",
		     "r");
	MUST(file);
	while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0)
		buffer_append(&library, bytes, length);
	MUST(!pclose(file) && library.length);
	return 0;
}

static int write_changed(const uint8_t *data, size_t size, size_t *ret_length)
{
	size_t length = library.length;
	char *copy = memory_alloc(length, 1);
	int fd;

	memcpy(copy, library.data, length);
	for (; size >= 4; data += 4, size -= 4) {
		size_t place = (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;

		if (place == 0xffffff)
			length = length * data[3] / 256;
		else
			copy[place % library.length] = (char)data[3];
	}
	fd = memfd_create("library", MFD_CLOEXEC);
	MUST(fd >= 0 && write(fd, copy, length) == (ssize_t)length);
	free(copy);
	*ret_length = length;
	return fd;
}

static bool count_function(void *context, const struct elf_function *function)
{
	size_t *count = context;

	MUST(function->name && strlen(function->name) < library.length);
	return ++*count < library.length;
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
	for (at = 0; at < library.length; at += STEP)
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
	int fd = write_changed(data, size, &length);
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
