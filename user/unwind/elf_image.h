/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few parts of an ELF image that unwinding needs: where its .eh_frame is, and where its code is
 * mapped. The image is untrusted bytes: a file's content, or what the loader made of it in memory (the
 * vdso, a deleted file). Not a general ELF reader.
 */
#ifndef UNWIND_ELF_IMAGE_H
#define UNWIND_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cursor.h"

enum elf_layout {
	ELF_LAYOUT_FILE, /* bytes are at their file offsets */
	ELF_LAYOUT_MEMORY, /* bytes are where the segments are loaded; the first byte is the ELF header */
};

struct elf_image {
	const uint8_t *bytes; /* the caller's; must outlive the image */
	size_t size;
	enum elf_layout layout;
	size_t segments; /* offset of the program headers */
	unsigned int segment_count;
	/* Address of the image's first byte as the ELF file sees it; memory layout only. */
	uint64_t base;
};

/*
 * Look at `size` bytes. Returns 0; -ENOEXEC if they are not a 64-bit little-endian ELF image of x86-64 or arm64 with program
 * headers. The image borrows the bytes.
 */
int elf_image_open(const void *bytes, size_t size, enum elf_layout layout,
		   struct elf_image *ret_image);

/* What the decoder of .eh_frame must know besides its bytes. */
struct elf_eh_frame {
	struct cursor entries;
	uint64_t data_base; /* what DW_EH_PE_datarel is relative to; 0 = unknown */
	bool bounded; /* the size is known; otherwise an entry of length 0 is the end */
};

/*
 * Find .eh_frame: by the section headers, else by PT_GNU_EH_FRAME. Returns 0, or -ENODATA if there is none.
 */
int elf_image_eh_frame(const struct elf_image *image, struct elf_eh_frame *ret_section);

/* An executable segment, from the start of its first page on. */
struct elf_code {
	uint64_t offset; /* in the file */
	uint64_t size; /* bytes in the file */
	uint64_t address; /* as the ELF file sees it */
};

#define ELF_CODES_MAX 16

/* The first executable segments of an image; returns their number. */
unsigned int elf_image_codes(const struct elf_image *image, struct elf_code codes[ELF_CODES_MAX]);

/*
 * What to add to an address of the file to get the one in a process that has an executable part of the file
 * mapped: `file_offset` at `start`. False if no executable segment holds that offset.
 */
bool elf_code_bias(const struct elf_code *codes, unsigned int count, uint64_t start,
		   uint64_t file_offset, uint64_t *ret_bias);

#endif
