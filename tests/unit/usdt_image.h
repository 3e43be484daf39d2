/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file around any content of .note.stapsdt: code and data of a page each, the code at USDT_CODE and the data at
 * USDT_DATA, 0x10000 above their places in the file.
 */
#ifndef TESTS_UNIT_USDT_IMAGE_H
#define TESTS_UNIT_USDT_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"

#define USDT_DISTANCE 0x10000u
#define USDT_CODE 0x11000u
#define USDT_DATA 0x12000u
#define USDT_PAGE 0x1000u
#define USDT_BASE 0x12800u /* address of .stapsdt.base */
#define USDT_MEMORY 0x2000u /* of the data, of which the file has the first half */

#if defined(__aarch64__)
#define USDT_ELF_MACHINE EM_AARCH64
#else
#define USDT_ELF_MACHINE EM_X86_64
#endif

static inline Elf64_Phdr usdt_segment(uint32_t flags, uint64_t address, uint64_t memory)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD,
			     .p_flags = PF_R | flags,
			     .p_offset = address - USDT_DISTANCE,
			     .p_vaddr = address,
			     .p_filesz = USDT_PAGE,
			     .p_memsz = memory,
			     .p_align = USDT_PAGE };
}

/* Write the file into a new descriptor. */
static inline int usdt_image(const void *notes, size_t size)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
	Elf64_Phdr segments[] = { usdt_segment(PF_X, USDT_CODE, USDT_PAGE),
				  usdt_segment(PF_W, USDT_DATA, USDT_MEMORY) };
	Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = 0x3000, .sh_size = size },
		{ .sh_name = 15,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = USDT_BASE,
		  .sh_offset = 0x2800,
		  .sh_size = 1 },
		{ .sh_name = 29,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = 0x800,
		  .sh_size = sizeof(names) },
	};
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = USDT_ELF_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = 0x400,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
		.e_ehsize = sizeof(Elf64_Ehdr),
	};
	int fd = memfd_create("usdt", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, &header, sizeof(header), 0) < 0 ||
	    pwrite(fd, segments, sizeof(segments), sizeof(header)) < 0 ||
	    pwrite(fd, sections, sizeof(sections), 0x400) < 0 ||
	    pwrite(fd, names, sizeof(names), 0x800) < 0 || ftruncate(fd, 0x3000) ||
	    (size && pwrite(fd, notes, size, 0x3000) < 0))
		return -1;
	return fd;
}

struct usdt_note {
	uint64_t address, base, semaphore;
	const char *provider, *name, *arguments;
};

/* Append a note as sys/sdt.h of SystemTap makes it. */
static inline void usdt_note_append(struct buffer *notes, const struct usdt_note *note)
{
	const char *const texts[] = { note->provider, note->name, note->arguments };
	uint64_t head[] = { note->address, note->base, note->semaphore };
	uint32_t sizes[] = { 8, sizeof(head), 3 };
	size_t i;

	for (i = 0; i < 3; i++)
		sizes[1] += (uint32_t)strlen(texts[i]) + 1;
	buffer_append(notes, sizes, sizeof(sizes));
	buffer_append(notes, "stapsdt", 8);
	buffer_append(notes, head, sizeof(head));
	for (i = 0; i < 3; i++)
		buffer_append(notes, texts[i], strlen(texts[i]) + 1);
	while (notes->length % 4)
		buffer_append(notes, "", 1);
}

#endif
