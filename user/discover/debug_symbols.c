/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols in separate debug files: see debug_symbols.h. */
#include "discover/debug_symbols.h"

#include <string.h>
#include <unistd.h>

#include <zlib.h>

/* Candidates to open before giving up. */
#define CANDIDATES_MAX 16
/* A checksum is taken of no more than this. */
#define CHECKSUM_BYTES_MAX (1u << 30)

static bool debug_symbols_checksum(int fd, uint32_t *ret_crc)
{
	unsigned char bytes[65536];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t length;

	while ((length = pread(fd, bytes, sizeof(bytes), at)) > 0 && at < CHECKSUM_BYTES_MAX) {
		crc = crc32(crc, bytes, (uInt)length);
		at += length;
	}
	*ret_crc = (uint32_t)crc;
	return length == 0;
}

/* A build ID that both have decides; without one, the checksum that the file names. */
static bool debug_symbols_match(int fd, const struct debug_want *want, const uint32_t *crc)
{
	unsigned char id[BUILD_ID_MAX];
	struct elf_file *file = elf_file_open(fd, NULL);
	size_t size = file ? elf_file_build_id(file, id, sizeof(id)) : 0;
	uint32_t found;

	elf_file_close(file);
	if (!file)
		return false;
	if (size && want->build_id_size)
		return size == want->build_id_size && !memcmp(id, want->build_id, size);
	return crc && debug_symbols_checksum(fd, &found) && found == *crc;
}

/* A descriptor of the wanted file, or -1. */
static int debug_symbols_open(const struct debug_source *source, const struct debug_want *want,
			      const uint32_t *crc)
{
	uint32_t candidate = 0;
	int fd, i;

	for (i = 0; i < CANDIDATES_MAX; i++, candidate++) {
		fd = source->open(source->context, want, &candidate);
		if (fd < 0 || debug_symbols_match(fd, want, crc))
			return fd;
		close(fd);
	}
	return -1;
}

bool debug_symbols_add(const struct debug_source *source, struct elf_file *file)
{
	struct debug_want want = { .kind = WANT_BUILD_ID, .name = "" };
	char name[ELF_LINK_NAME_MAX];
	uint32_t crc;
	bool added;
	int fd = -1;

	if (elf_file_has_symbols(file))
		return false;
	want.build_id_size = elf_file_build_id(file, want.build_id, sizeof(want.build_id));
	if (want.build_id_size)
		fd = debug_symbols_open(source, &want, NULL);
	if (fd < 0 && elf_file_debug_link(file, name, &crc)) {
		want.kind = WANT_DEBUGLINK;
		want.name = name;
		fd = debug_symbols_open(source, &want, &crc);
	}
	if (fd < 0)
		return false;
	added = elf_file_add_symbols(file, fd);
	close(fd);
	return added;
}
