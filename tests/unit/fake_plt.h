/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A procedure linkage table in the bytes of a fake file (fake_elf_file.h), with all that leads to its names: an ELF
 * header at 0, and from `base` on 0x1000 bytes that hold the entries, the dynamic section, relocations, symbols and
 * strings. As the ABI supplement for x86-64 describes them.
 */
#ifndef TESTS_FAKE_PLT_H
#define TESTS_FAKE_PLT_H

#include <elf.h>
#include <stdio.h>

#include "fake_elf_file.h"

#define FAKE_SLOTS 0x200 /* from the base: where the entries jump through */
#define FAKE_DYNAMIC 0x400
#define FAKE_RELOCATIONS 0x600
#define FAKE_SYMBOLS 0x900
#define FAKE_STRINGS 0xc00

/* The file offset of an entry. */
static inline uint64_t fake_plt_entry(uint64_t base, size_t index)
{
	return base + 16 * index;
}

static inline void fake_plt_put(uint8_t *bytes, uint64_t base, size_t index, const char *name,
				size_t *strings)
{
	uint64_t entry = fake_plt_entry(base, index), slot = base + FAKE_SLOTS + 8 * index;
	Elf64_Rela relocation = { .r_offset = slot + FAKE_DISTANCE,
				  .r_info = ELF64_R_INFO(index + 1, R_X86_64_JUMP_SLOT) };
	Elf64_Sym symbol = { .st_name = (Elf64_Word)*strings };
	int32_t distance = (int32_t)(slot - entry - 6);

	memcpy(bytes + entry, "\xff\x25", 2);
	memcpy(bytes + entry + 2, &distance, sizeof(distance));
	memcpy(bytes + base + FAKE_RELOCATIONS + index * sizeof(relocation), &relocation,
	       sizeof(relocation));
	memcpy(bytes + base + FAKE_SYMBOLS + (index + 1) * sizeof(symbol), &symbol, sizeof(symbol));
	strcpy((char *)bytes + base + FAKE_STRINGS + *strings, name);
	*strings += strlen(name) + 1;
}

/* Write entries for `count` names, at most 10, into a file of `size` bytes. */
static inline void fake_plt_write(uint8_t *bytes, size_t size, uint64_t base,
				  const char *const names[], size_t count)
{
	uint64_t address = base + FAKE_DISTANCE;
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
			      .e_phoff = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 2 };
	Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_vaddr = FAKE_DISTANCE, .p_filesz = size },
		{ .p_type = PT_DYNAMIC, .p_offset = base + FAKE_DYNAMIC },
	};
	Elf64_Dyn dynamic[] = {
		{ .d_tag = DT_SYMTAB, .d_un.d_ptr = address + FAKE_SYMBOLS },
		{ .d_tag = DT_STRTAB, .d_un.d_ptr = address + FAKE_STRINGS },
		{ .d_tag = DT_JMPREL, .d_un.d_ptr = address + FAKE_RELOCATIONS },
		{ .d_tag = DT_PLTRELSZ, .d_un.d_val = count * sizeof(Elf64_Rela) },
		{ .d_tag = DT_NULL },
	};
	size_t i, strings = 1;

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + header.e_phoff, segments, sizeof(segments));
	memcpy(bytes + base + FAKE_DYNAMIC, dynamic, sizeof(dynamic));
	for (i = 0; i < count; i++)
		fake_plt_put(bytes, base, i, names[i], &strings);
}

#endif
