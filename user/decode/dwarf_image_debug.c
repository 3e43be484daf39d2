/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Separate debug files: asking for them, and taking none that is not the right one. A file is right if it has the
 * build ID of the program, or the checksum that the program names.
 */
#include "decode/dwarf_image_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <zlib.h>

/* Candidates to open before giving up. */
#define CANDIDATES_MAX 64

static bool dwarf_image_debug_crc(int fd, GElf_Word *ret_crc)
{
	unsigned char bytes[65536];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t length;

	while ((length = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		crc = crc32(crc, bytes, (uInt)length);
		at += length;
	}
	if (length < 0)
		return false;
	*ret_crc = (GElf_Word)crc;
	return true;
}

/* Copies the build ID of an open file and returns its size; 0 = none. */
static size_t dwarf_image_debug_build_id(Elf *elf, unsigned char id[BUILD_ID_MAX])
{
	const void *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

	if (size <= 0 || size > BUILD_ID_MAX)
		return 0;
	memcpy(id, bytes, (size_t)size);
	return (size_t)size;
}

/*
 * Is `fd` the wanted file? A build ID that both have decides; the checksum decides where one has none. Without
 * either, nothing proves it.
 */
static bool dwarf_image_debug_verify(int fd, const struct debug_want *want, const GElf_Word *crc)
{
	unsigned char id[BUILD_ID_MAX];
	GElf_Word found;
	size_t size = 0;
	Elf *elf;

	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return false;
	}
	size = dwarf_image_debug_build_id(elf, id);
	elf_end(elf);
	if (size && want->build_id_size)
		return size == want->build_id_size && !memcmp(id, want->build_id, size);
	return crc && dwarf_image_debug_crc(fd, &found) && found == *crc;
}

/* A descriptor of the file, verified, or -1. */
static int dwarf_image_debug_open(const struct dwarf_image *image, const struct debug_want *want,
				  const GElf_Word *crc)
{
	uint32_t candidate = 0;
	int fd, i;

	for (i = 0; i < CANDIDATES_MAX; i++) {
		fd = image->source->open(image->source->context, want, &candidate);
		if (fd < 0)
			return -1;
		if (dwarf_image_debug_verify(fd, want, crc))
			return fd;
		close(fd);
		candidate++;
	}
	return -1;
}

/*
 * libdwfl uses one callback for two questions. The one for the shared file (dwz) comes with that file's name and without
 * its build ID; dwarf_image_debug_attach_alternate asks it better.
 */
static bool dwarf_image_debug_is_own(Elf *elf, const char *debuglink, GElf_Word crc)
{
	GElf_Word own_crc = 0;
	const char *own = dwelf_elf_gnu_debuglink(elf, &own_crc);

	return !debuglink || (own && own_crc == crc && !strcmp(own, debuglink));
}

int dwarf_image_debug_find(Dwfl_Module *module, void **userdata, const char *module_name,
			   Dwarf_Addr base, const char *file_name, const char *debuglink,
			   GElf_Word debuglink_crc, char **ret_path)
{
	struct dwarf_image *image = *userdata;
	struct debug_want want = { .kind = WANT_BUILD_ID, .name = "" };
	GElf_Addr bias;
	Elf *elf;
	int fd = -1;

	(void)module_name, (void)base, (void)file_name, (void)ret_path;
	elf = image ? dwfl_module_getelf(module, &bias) : NULL;
	if (!elf || !dwarf_image_debug_is_own(elf, debuglink, debuglink_crc))
		return -1;
	want.build_id_size = dwarf_image_debug_build_id(elf, want.build_id);
	if (want.build_id_size)
		fd = dwarf_image_debug_open(image, &want, NULL);
	if (fd >= 0 || !debuglink || strchr(debuglink, '/'))
		return fd;
	want.kind = WANT_DEBUGLINK;
	want.name = debuglink;
	return dwarf_image_debug_open(image, &want, &debuglink_crc);
}

void dwarf_image_debug_attach_alternate(struct dwarf_image *image)
{
	struct debug_want want = { .kind = WANT_ALTLINK };
	const void *id;
	ssize_t size;

	size = dwelf_dwarf_gnu_debugaltlink(image->dwarf, &want.name, &id);
	if (size <= 0 || size > BUILD_ID_MAX)
		return;
	want.build_id_size = (size_t)size;
	memcpy(want.build_id, id, want.build_id_size);
	image->alternate_fd = dwarf_image_debug_open(image, &want, NULL);
	if (image->alternate_fd < 0)
		return;
	image->alternate = dwarf_begin(image->alternate_fd, DWARF_C_READ);
	if (image->alternate)
		dwarf_setalt(image->dwarf, image->alternate);
}
