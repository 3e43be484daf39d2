/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small ELF image around any .eh_frame, for tests of the unwind tables: one loadable segment that is mapped
 * at ELF_BUILDER_ADDRESS, found by a section header, by PT_GNU_EH_FRAME, or both.
 */
#ifndef TESTS_UNIT_ELF_BUILDER_H
#define TESTS_UNIT_ELF_BUILDER_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

#define ELF_BUILDER_ADDRESS 0x10000u
#define ELF_BUILDER_HEADER 0x180u /* offset of .eh_frame_hdr */
#define ELF_BUILDER_DYNAMIC 0x1c0u
#define ELF_BUILDER_FRAMES 0x200u /* offset of .eh_frame */
#define ELF_BUILDER_GOT 0x30000u /* what DT_PLTGOT says */
#define ELF_BUILDER_SEGMENTS 3

struct elf_builder {
	const void *frames; /* the content of .eh_frame */
	size_t size;
	bool by_section, by_segment;
};

static inline void elf_builder_segments(const struct elf_builder *builder, uint8_t *head)
{
	Elf64_Phdr segments[ELF_BUILDER_SEGMENTS] = { 0 };
	uint64_t size = ELF_BUILDER_FRAMES + builder->size;

	segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_vaddr = ELF_BUILDER_ADDRESS,
				    .p_filesz = size,
				    .p_memsz = size };
	segments[1] = (Elf64_Phdr){ .p_type = builder->by_segment ? PT_GNU_EH_FRAME : PT_NULL,
				    .p_offset = ELF_BUILDER_HEADER,
				    .p_vaddr = ELF_BUILDER_ADDRESS + ELF_BUILDER_HEADER,
				    .p_filesz = 8,
				    .p_memsz = 8 };
	segments[2] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
				    .p_offset = ELF_BUILDER_DYNAMIC,
				    .p_vaddr = ELF_BUILDER_ADDRESS + ELF_BUILDER_DYNAMIC,
				    .p_filesz = 32,
				    .p_memsz = 32 };
	memcpy(head + sizeof(Elf64_Ehdr), segments, sizeof(segments));
}

/* Version 1, pcrel sdata4, no count, no search table; the pointer is relative to itself, 4 bytes in. */
static inline void elf_builder_frame_header(uint8_t *head)
{
	static const uint8_t fixed[] = { 1, 0x1b, 0xff, 0xff };
	uint32_t distance = ELF_BUILDER_FRAMES - (ELF_BUILDER_HEADER + 4);
	uint64_t dynamic[] = { DT_PLTGOT, ELF_BUILDER_GOT, DT_NULL, 0 };

	memcpy(head + ELF_BUILDER_HEADER, fixed, sizeof(fixed));
	memcpy(head + ELF_BUILDER_HEADER + 4, &distance, sizeof(distance));
	memcpy(head + ELF_BUILDER_DYNAMIC, dynamic, sizeof(dynamic));
}

static inline void elf_builder_sections(const struct elf_builder *builder, struct buffer *image,
					Elf64_Ehdr *header)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	Elf64_Shdr sections[3] = { 0 };

	sections[1] = (Elf64_Shdr){ .sh_name = 1,
				    .sh_type = SHT_PROGBITS,
				    .sh_addr = ELF_BUILDER_ADDRESS + ELF_BUILDER_FRAMES,
				    .sh_offset = ELF_BUILDER_FRAMES,
				    .sh_size = builder->size };
	sections[2] = (Elf64_Shdr){ .sh_name = 11,
				    .sh_type = SHT_STRTAB,
				    .sh_offset = image->length,
				    .sh_size = sizeof(names) };
	buffer_append(image, names, sizeof(names));
	header->e_shoff = image->length;
	header->e_shnum = 3;
	header->e_shstrndx = 2;
	buffer_append(image, sections, sizeof(sections));
}

/* Write the image at the end of `image`, which must be empty. */
static inline void elf_builder_write(const struct elf_builder *builder, struct buffer *image)
{
	uint8_t head[ELF_BUILDER_FRAMES] = { 0 };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = ELF_BUILDER_SEGMENTS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
	};

	elf_builder_segments(builder, head);
	elf_builder_frame_header(head);
	buffer_append(image, head, sizeof(head));
	buffer_append(image, builder->frames, builder->size);
	if (builder->by_section)
		elf_builder_sections(builder, image, &header);
	memcpy(image->data, &header, sizeof(header));
}

#endif
