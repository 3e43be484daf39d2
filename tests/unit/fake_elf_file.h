/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file made by a test in place of elf/elf_file.c: functions whose code the test writes down. File offsets and
 * virtual addresses are 0x400000 apart. A test that includes this cannot use the real one.
 */
#ifndef TESTS_FAKE_ELF_FILE_H
#define TESTS_FAKE_ELF_FILE_H

#include <string.h>

#include "elf/elf_file.h"
#include "elf/elf_usdt.h"

#define FAKE_DISTANCE 0x400000
#define FAKE_FUNCTIONS 64
#define FAKE_PROBES 16

struct elf_file {
	struct elf_function functions[FAKE_FUNCTIONS];
	size_t function_count;
	struct elf_usdt probes[FAKE_PROBES];
	size_t probe_count;
	const uint8_t *bytes;
	size_t size;
	uint64_t text_start, text_end; /* what is mapped; 0, 0 = the whole file */
};

void elf_file_functions(struct elf_file *file,
			bool (*visit)(void *context, const struct elf_function *function),
			void *context)
{
	size_t i;

	for (i = 0; i < file->function_count; i++)
		if (!visit(context, &file->functions[i]))
			return;
}

void elf_usdt_visit(struct elf_file *file,
		    bool (*visit)(void *context, const struct elf_usdt *probe), void *context)
{
	size_t i;

	for (i = 0; i < file->probe_count; i++)
		if (!visit(context, &file->probes[i]))
			return;
}

size_t elf_file_read(struct elf_file *file, uint64_t file_offset, void *bytes, size_t size)
{
	if (file_offset >= file->size)
		return 0;
	if (size > file->size - file_offset)
		size = file->size - file_offset;
	memcpy(bytes, file->bytes + file_offset, size);
	return size;
}

bool elf_file_offset_to_address(struct elf_file *file, uint64_t file_offset, uint64_t *ret_address)
{
	uint64_t end = file->text_end ? file->text_end : file->size;

	if (file_offset < file->text_start || file_offset >= end)
		return false;
	*ret_address = file_offset + FAKE_DISTANCE;
	return true;
}

bool elf_file_address_to_offset(struct elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	uint64_t back;

	if (address < FAKE_DISTANCE ||
	    !elf_file_offset_to_address(file, address - FAKE_DISTANCE, &back))
		return false;
	*ret_offset = address - FAKE_DISTANCE;
	return true;
}

bool elf_file_has_section(struct elf_file *file, const char *name)
{
	(void)file;
	(void)name;
	return false;
}

#endif
