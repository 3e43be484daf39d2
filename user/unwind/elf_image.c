/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections and segments of an untrusted ELF image: see elf_image.h. */
#include "unwind/elf_image.h"

#include <elf.h>
#include <errno.h>

#include "unwind/eh_pointer.h"

/* Bounds on loops over headers; the formats allow far more than any real file has. */
#define SECTIONS_MAX 65536u
#define DYNAMIC_MAX 4096u
#define PAGE_SIZE 4096u

/* Copy a header at an offset: the bytes need not be aligned. */
static bool elf_copy(const struct elf_image *image, uint64_t offset, void *header, size_t size)
{
	if (offset > image->size || size > image->size - offset)
		return false;
	memcpy(header, image->bytes + offset, size);
	return true;
}

static bool elf_segment(const struct elf_image *image, unsigned int index, Elf64_Phdr *segment)
{
	return index < image->segment_count &&
	       elf_copy(image, image->segments + index * sizeof(*segment), segment,
			sizeof(*segment));
}

static bool elf_find_segment(const struct elf_image *image, uint32_t type, Elf64_Phdr *segment)
{
	unsigned int i;

	for (i = 0; elf_segment(image, i, segment); i++)
		if (segment->p_type == type)
			return true;
	return false;
}

static bool elf_is_supported(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       (header->e_machine == EM_X86_64 || header->e_machine == EM_AARCH64) &&
	       header->e_phentsize == sizeof(Elf64_Phdr);
}

int elf_image_open(const void *bytes, size_t size, enum elf_layout layout,
		   struct elf_image *ret_image)
{
	struct elf_image image = { .bytes = bytes, .size = size, .layout = layout };
	Elf64_Phdr segment;
	Elf64_Ehdr header;

	if (!elf_copy(&image, 0, &header, sizeof(header)) || !elf_is_supported(&header))
		return -ENOEXEC;
	if (header.e_phoff > size || header.e_phnum > (size - header.e_phoff) / sizeof(Elf64_Phdr))
		return -ENOEXEC;
	image.segments = header.e_phoff;
	image.segment_count = header.e_phnum;
	if (!elf_find_segment(&image, PT_LOAD, &segment))
		return -ENOEXEC;
	image.base = (segment.p_vaddr - segment.p_offset) & ~(uint64_t)(PAGE_SIZE - 1);
	*ret_image = image;
	return 0;
}

/* Offset in the image of what is loaded at `address`; `*ret_size` gets the bytes that follow there. */
static bool elf_locate(const struct elf_image *image, uint64_t address, uint64_t *ret_offset,
		       uint64_t *ret_size)
{
	Elf64_Phdr segment;
	uint64_t inside, offset;
	unsigned int i;

	for (i = 0; elf_segment(image, i, &segment); i++) {
		inside = address - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    inside >= segment.p_filesz)
			continue;
		offset = segment.p_offset + inside;
		if (image->layout == ELF_LAYOUT_MEMORY)
			offset = address - image->base;
		if (offset >= image->size)
			return false;
		*ret_offset = offset;
		*ret_size = segment.p_filesz - inside;
		if (*ret_size > image->size - offset)
			*ret_size = image->size - offset;
		return true;
	}
	return false;
}

static bool elf_cursor_at(const struct elf_image *image, uint64_t address, struct cursor *cursor)
{
	uint64_t offset, size;

	if (!elf_locate(image, address, &offset, &size))
		return false;
	*cursor = (struct cursor){
		.at = image->bytes + offset,
		.end = image->bytes + offset + size,
		.address = address,
	};
	return true;
}

/* Is the name at `offset` of the section names ".eh_frame"? */
static bool elf_is_eh_frame(const struct elf_image *image, const Elf64_Shdr *names, uint32_t offset)
{
	static const char wanted[] = ".eh_frame";
	char name[sizeof(wanted)];

	return offset <= names->sh_size && names->sh_offset <= image->size &&
	       elf_copy(image, names->sh_offset + offset, name, sizeof(name)) &&
	       !memcmp(name, wanted, sizeof(wanted));
}

static bool elf_section(const struct elf_image *image, const Elf64_Ehdr *header, uint32_t index,
			Elf64_Shdr *section)
{
	uint64_t offset = (uint64_t)index * sizeof(*section);

	return header->e_shoff && header->e_shoff <= image->size &&
	       elf_copy(image, header->e_shoff + offset, section, sizeof(*section));
}

/* A section that a separate debug file only mentions (SHT_NOBITS) has no bytes here. */
static bool elf_find_by_section(const struct elf_image *image, struct cursor *cursor)
{
	Elf64_Shdr names, section;
	Elf64_Ehdr header;
	uint32_t i;

	if (!elf_copy(image, 0, &header, sizeof(header)) ||
	    header.e_shentsize != sizeof(Elf64_Shdr) ||
	    !elf_section(image, &header, header.e_shstrndx, &names))
		return false;
	for (i = 1; i < header.e_shnum && i < SECTIONS_MAX; i++) {
		if (!elf_section(image, &header, i, &section))
			return false;
		if (section.sh_type == SHT_NOBITS || section.sh_offset > image->size ||
		    section.sh_size > image->size - section.sh_offset || !section.sh_size ||
		    !elf_is_eh_frame(image, &names, section.sh_name))
			continue;
		*cursor = (struct cursor){
			.at = image->bytes + section.sh_offset,
			.end = image->bytes + section.sh_offset + section.sh_size,
			.address = section.sh_addr,
		};
		return true;
	}
	return false;
}

/* .eh_frame_hdr: version 1, three encodings, then the pointer to .eh_frame. */
static bool elf_find_by_segment(const struct elf_image *image, struct cursor *cursor)
{
	struct cursor header;
	Elf64_Phdr segment;
	uint64_t address;
	uint8_t encoding;

	if (!elf_find_segment(image, PT_GNU_EH_FRAME, &segment) ||
	    !elf_cursor_at(image, segment.p_vaddr, &header))
		return false;
	if (cursor_u8(&header) != 1)
		return false;
	encoding = cursor_u8(&header);
	cursor_skip(&header, 2);
	address = eh_pointer_read(&header, encoding, segment.p_vaddr);
	return !header.bad && elf_cursor_at(image, address, cursor);
}

/* On x86-64 the base of DW_EH_PE_datarel in .eh_frame is the global offset table. */
static uint64_t elf_got_address(const struct elf_image *image)
{
	struct cursor dynamic;
	Elf64_Phdr segment;
	uint64_t tag, value;
	unsigned int i;

	if (!elf_find_segment(image, PT_DYNAMIC, &segment) ||
	    !elf_cursor_at(image, segment.p_vaddr, &dynamic))
		return 0;
	for (i = 0; i < DYNAMIC_MAX && !dynamic.bad; i++) {
		tag = cursor_fixed(&dynamic, 8);
		value = cursor_fixed(&dynamic, 8);
		if (tag == DT_NULL)
			break;
		if (tag == DT_PLTGOT)
			return value;
	}
	return 0;
}

int elf_image_eh_frame(const struct elf_image *image, struct elf_eh_frame *ret_section)
{
	struct elf_eh_frame section = { .data_base = elf_got_address(image) };

	if (image->layout == ELF_LAYOUT_FILE && elf_find_by_section(image, &section.entries))
		section.bounded = true;
	else if (!elf_find_by_segment(image, &section.entries))
		return -ENODATA;
	*ret_section = section;
	return 0;
}

unsigned int elf_image_codes(const struct elf_image *image, struct elf_code codes[ELF_CODES_MAX])
{
	Elf64_Phdr segment;
	unsigned int i, count = 0;
	uint64_t before;

	for (i = 0; count < ELF_CODES_MAX && elf_segment(image, i, &segment); i++) {
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		before = segment.p_offset & (PAGE_SIZE - 1);
		codes[count++] = (struct elf_code){ .offset = segment.p_offset - before,
						    .size = segment.p_filesz + before,
						    .address = segment.p_vaddr - before };
	}
	return count;
}

bool elf_code_bias(const struct elf_code *codes, unsigned int count, uint64_t start,
		   uint64_t file_offset, uint64_t *ret_bias)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (file_offset < codes[i].offset || file_offset - codes[i].offset >= codes[i].size)
			continue;
		*ret_bias = start - (codes[i].address - codes[i].offset + file_offset);
		return true;
	}
	return false;
}
