/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the procedure linkage table: see elf_plt.h. */
#include "elf/elf_plt.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The relocations of slots. */
#if defined(__aarch64__)
#define RELOCATION_JUMP R_AARCH64_JUMP_SLOT
#define RELOCATION_DATA R_AARCH64_GLOB_DAT
#define RELOCATION_INDIRECT R_AARCH64_IRELATIVE
#else
#define RELOCATION_JUMP R_X86_64_JUMP_SLOT
#define RELOCATION_DATA R_X86_64_GLOB_DAT
#define RELOCATION_INDIRECT R_X86_64_IRELATIVE
#endif

/* More than any file has; keeps a hostile one from costing time. */
#define SEGMENTS_MAX 128
#define SECTIONS_MAX 1024
#define DYNAMIC_MAX 1024
#define RELOCATIONS_MAX (1u << 20)
#define RELOCATIONS_AT_ONCE 1024

/* Entries of the dynamic section: addresses, and sizes in bytes. */
struct dynamic {
	uint64_t symbols, strings;
	uint64_t jump_relocations, jump_size;
	uint64_t relocations, size;
};

static bool read_all(struct elf_file *file, uint64_t offset, void *bytes, size_t size)
{
	return elf_file_read(file, offset, bytes, size) == size;
}

static bool read_address(struct elf_file *file, uint64_t address, void *bytes, size_t size)
{
	uint64_t offset;

	return elf_file_address_to_offset(file, address, &offset) &&
	       read_all(file, offset, bytes, size);
}

static void dynamic_take(struct dynamic *dynamic, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		dynamic->symbols = entry->d_un.d_ptr;
		break;
	case DT_STRTAB:
		dynamic->strings = entry->d_un.d_ptr;
		break;
	case DT_JMPREL:
		dynamic->jump_relocations = entry->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		dynamic->jump_size = entry->d_un.d_val;
		break;
	case DT_RELA:
		dynamic->relocations = entry->d_un.d_ptr;
		break;
	case DT_RELASZ:
		dynamic->size = entry->d_un.d_val;
		break;
	}
}

static bool dynamic_find(struct elf_file *file, uint64_t *ret_offset)
{
	Elf64_Phdr segment;
	Elf64_Ehdr header;
	uint64_t i;

	if (!read_all(file, 0, &header, sizeof(header)) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(segment))
		return false;
	for (i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		if (!read_all(file, header.e_phoff + i * sizeof(segment), &segment,
			      sizeof(segment)))
			return false;
		if (segment.p_type == PT_DYNAMIC) {
			*ret_offset = segment.p_offset;
			return true;
		}
	}
	return false;
}

static bool dynamic_read(struct elf_file *file, struct dynamic *ret)
{
	struct dynamic dynamic = { 0 };
	uint64_t offset, i;
	Elf64_Dyn entry;

	if (!dynamic_find(file, &offset))
		return false;
	for (i = 0; i < DYNAMIC_MAX; i++) {
		if (!read_all(file, offset + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		dynamic_take(&dynamic, &entry);
	}
	*ret = dynamic;
	return dynamic.symbols && dynamic.strings;
}

/* The relocation of the slot at `slot`, among those of one table. False if there is none. */
static bool relocation_find(struct elf_file *file, uint64_t offset, uint64_t size, uint64_t slot,
			    Elf64_Rela *ret_relocation)
{
	uint64_t count = size / sizeof(Elf64_Rela), i, j;
	Elf64_Rela *items;
	bool found = false;

	if (count > RELOCATIONS_MAX)
		return false;
	items = memory_alloc(RELOCATIONS_AT_ONCE, sizeof(*items));
	for (i = 0; i < count && !found; i += RELOCATIONS_AT_ONCE) {
		uint64_t some = count - i < RELOCATIONS_AT_ONCE ? count - i : RELOCATIONS_AT_ONCE;

		some = elf_file_read(file, offset + i * sizeof(*items), items,
				     some * sizeof(*items)) /
		       sizeof(*items);
		for (j = 0; j < some && !found; j++) {
			found = items[j].r_offset == slot;
			*ret_relocation = items[j];
		}
	}
	free(items);
	return found;
}

/* The symbol that is looked up for the slot at `slot`, among the relocations of one table; 0 = none. */
static uint32_t relocation_symbol(struct elf_file *file, uint64_t table, uint64_t size,
				  uint64_t slot)
{
	Elf64_Rela relocation;
	uint64_t offset, type;

	if (!table || !elf_file_address_to_offset(file, table, &offset) ||
	    !relocation_find(file, offset, size, slot, &relocation))
		return 0;
	type = ELF64_R_TYPE(relocation.r_info);
	return type == RELOCATION_JUMP || type == RELOCATION_DATA
		       ? (uint32_t)ELF64_R_SYM(relocation.r_info)
		       : 0;
}

/* The relocation of a slot in any table of the file that a section is. Static programs have no dynamic section. */
static bool section_relocation(struct elf_file *file, uint64_t slot, Elf64_Rela *ret_relocation)
{
	Elf64_Shdr section;
	Elf64_Ehdr header;
	uint64_t i;

	if (!read_all(file, 0, &header, sizeof(header)) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_shentsize != sizeof(section))
		return false;
	for (i = 0; i < header.e_shnum && i < SECTIONS_MAX; i++)
		if (read_all(file, header.e_shoff + i * sizeof(section), &section,
			     sizeof(section)) &&
		    section.sh_type == SHT_RELA && section.sh_flags & SHF_ALLOC &&
		    relocation_find(file, section.sh_offset, section.sh_size, slot, ret_relocation))
			return true;
	return false;
}

/* The address of the slot that the entry at `file_offset` jumps through. */
#if defined(__aarch64__)

static bool plt_slot(struct elf_file *file, uint64_t file_offset, uint64_t *ret_slot)
{
	uint32_t code[3] = { 0 }, *at = code;
	uint64_t address, page;

	if (!read_all(file, file_offset, code, sizeof(code)) ||
	    !elf_file_offset_to_address(file, file_offset, &address))
		return false;
	if (*at == 0xd503245f) { /* bti c */
		at++;
		address += 4;
	}
	/* adrp x16, page; ldr x17, [x16, #offset] */
	if ((at[0] & 0x9f00001f) != 0x90000010 || (at[1] & 0xffc003ff) != 0xf9400211)
		return false;
	page = (uint64_t)(at[0] >> 5 & 0x7ffff) << 2 | (at[0] >> 29 & 3);
	page = (page ^ 0x100000) - 0x100000;
	*ret_slot = (address & ~0xfffull) + (page << 12) + (at[1] >> 10 & 0xfff) * 8;
	return true;
}

#else

static bool plt_slot(struct elf_file *file, uint64_t file_offset, uint64_t *ret_slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[16] = { 0 };
	uint64_t address;
	int32_t distance;
	size_t at = 0;

	if (!read_all(file, file_offset, code, 11) ||
	    !elf_file_offset_to_address(file, file_offset, &address))
		return false;
	if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	if (code[at] == 0xf2) /* bnd */
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25) /* jmp *distance(%rip) */
		return false;
	memcpy(&distance, code + at + 2, sizeof(distance));
	*ret_slot = address + at + 6 + (uint64_t)(int64_t)distance;
	return true;
}

#endif

bool elf_plt_name(struct elf_file *file, uint64_t file_offset, char ret_name[ELF_PLT_NAME_MAX])
{
	char name[ELF_PLT_NAME_MAX] = "";
	struct dynamic dynamic;
	uint64_t slot, offset;
	Elf64_Sym symbol;
	uint32_t index;

	if (!plt_slot(file, file_offset, &slot) || !dynamic_read(file, &dynamic))
		return false;
	index = relocation_symbol(file, dynamic.jump_relocations, dynamic.jump_size, slot);
	if (!index)
		index = relocation_symbol(file, dynamic.relocations, dynamic.size, slot);
	if (!index || !read_address(file, dynamic.symbols + (uint64_t)index * sizeof(symbol),
				    &symbol, sizeof(symbol)))
		return false;
	if (!elf_file_address_to_offset(file, dynamic.strings + symbol.st_name, &offset))
		return false;
	elf_file_read(file, offset, name, sizeof(name));
	if (!*name || !memchr(name, '\0', sizeof(name)))
		return false;
	memcpy(ret_name, name, sizeof(name));
	return true;
}

bool elf_plt_resolver(struct elf_file *file, uint64_t file_offset, uint64_t *ret_offset)
{
	Elf64_Rela relocation;
	uint64_t slot;

	return plt_slot(file, file_offset, &slot) && section_relocation(file, slot, &relocation) &&
	       ELF64_R_TYPE(relocation.r_info) == RELOCATION_INDIRECT &&
	       elf_file_address_to_offset(file, (uint64_t)relocation.r_addend, ret_offset);
}
