/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file in memory that the input has written over: the function of an address, which must hold the address. */
#include <elf.h>

#include "interp_memory.h"
#include "interp/function_range.h"

#define TABLE 0x200u
#define FUNCTIONS 100u
#define ADDRESS(i) (IMAGE_BASE + 0x1000u + 16u * (i))

static void build(struct image *image)
{
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				    .e_phoff = sizeof(header),
				    .e_phnum = 2,
				    .e_phentsize = sizeof(Elf64_Phdr) };
	const Elf64_Phdr segments[2] = { { .p_type = PT_LOAD },
					 { .p_type = PT_GNU_EH_FRAME, .p_vaddr = TABLE } };
	uint32_t i;

	memcpy(image->bytes, &header, sizeof(header));
	memcpy(image->bytes + sizeof(header), segments, sizeof(segments));
	image_put(image, TABLE, 0x3b031b01);
	image_put(image, TABLE + 8, FUNCTIONS);
	for (i = 0; i < FUNCTIONS; i++)
		image_put(image, TABLE + 12 + 8 * i, ADDRESS(i) - IMAGE_BASE - TABLE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;
	struct target_memory memory = { image_read, &image };
	uint64_t start = 0, end = 0, address;

	if (!size)
		return 0;
	address = ADDRESS(data[0] % (FUNCTIONS - 1)) + 5;
	memset(&image, 0, sizeof(image));
	build(&image);
	if (size == 1) {
		MUST(function_range_find(&memory, IMAGE_BASE, address, &start, &end));
		MUST(start == address - 5 && end == start + 16);
	}
	image_write(&image, data + 1, size - 1);
	if (function_range_find(&memory, IMAGE_BASE, address, &start, &end))
		MUST(start <= address && address < end);
	return 0;
}
