/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program with debug information in which any bytes are changed, read as the symbolizing worker reads it, but
 * without its sandbox, so that what goes wrong is seen. The program is compiled at the start. Each four bytes of the input
 * are a place in it (24 bits) and the byte to put there; a place of 0xffffff cuts the file off instead.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "changed_file.h"
#include "decode/dwarf_image.h"

/* Where the code of such a small library is. */
#define CODE_START 0x1000
#define CODE_SIZE 0x400

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	changed_file_compile("-g");
	MUST(changed_original.length > CODE_START + CODE_SIZE);
	return 0;
}

/* One that answers each question with the same file, right or wrong. */
static int open_same(void *context, const struct debug_want *want, uint32_t *candidate)
{
	MUST(want->name && want->build_id_size <= BUILD_ID_MAX);
	return *candidate ? -1 : dup(*(int *)context);
}

static void check(const struct dwarf_image_names *names)
{
	size_t i;

	MUST(names->count <= DWARF_IMAGE_DEPTH_MAX);
	for (i = 0; i < names->count; i++) {
		MUST(!names->items[i].function || strlen(names->items[i].function) < 4096);
		MUST(!names->items[i].file || names->items[i].file[0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t length;
	int fd = changed_file_write(data, size, &length), kept = dup(fd);
	const struct debug_source source = { open_same, &kept };
	struct dwarf_image *image = dwarf_image_open(fd, &source);
	struct dwarf_image_names names;
	uint64_t offset;

	for (offset = CODE_START; image && offset < CODE_START + CODE_SIZE; offset += 7) {
		dwarf_image_lookup(image, offset, &names);
		check(&names);
		dwarf_image_names_clear(&names);
	}
	dwarf_image_free(image);
	close(kept);
	return 0;
}
