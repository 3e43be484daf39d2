/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stripped files have of their symbols: .gnu_debugdata, a small ELF file compressed with xz, and .gnu_debuglink, the
 * name of another file.
 */
#include "elf/elf_file_private.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define COMPRESSED_MAX (64u << 20)
#define DECOMPRESSED_MAX (64u << 20)
/* What the decoder may allocate; xz -9 needs 65 MiB. */
#define DECODER_MEMORY_MAX (96u << 20)
#define CHUNK 65536

static bool debugdata_decode(lzma_stream *stream, struct buffer *bytes)
{
	uint8_t *chunk = memory_alloc(1, CHUNK);
	lzma_ret result = LZMA_OK;

	while (result == LZMA_OK && bytes->length <= DECOMPRESSED_MAX) {
		stream->next_out = chunk;
		stream->avail_out = CHUNK;
		result = lzma_code(stream, LZMA_FINISH);
		buffer_append(bytes, chunk, CHUNK - stream->avail_out);
	}
	free(chunk);
	return result == LZMA_STREAM_END && bytes->length <= DECOMPRESSED_MAX;
}

static bool debugdata_decompress(const uint8_t *from, size_t size, struct buffer *bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	bool done;

	if (lzma_stream_decoder(&stream, DECODER_MEMORY_MAX, 0) != LZMA_OK)
		return false;
	stream.next_in = from;
	stream.avail_in = size;
	done = debugdata_decode(&stream, bytes);
	lzma_end(&stream);
	return done;
}

struct elf_file *elf_debugdata_open(struct elf_file *file)
{
	const Elf64_Shdr *header = elf_section_find(file, ".gnu_debugdata");
	struct elf_file *found = NULL;
	struct buffer bytes = { 0 };
	uint8_t *compressed;

	if (!header)
		return NULL;
	compressed = elf_file_copy(file, header->sh_offset, header->sh_size, COMPRESSED_MAX);
	if (!compressed)
		return NULL;
	if (debugdata_decompress(compressed, header->sh_size, &bytes))
		found = elf_file_open_memory(&bytes);
	buffer_free(&bytes);
	free(compressed);
	return found;
}

bool elf_file_debug_link(struct elf_file *file, char ret_name[ELF_LINK_NAME_MAX], uint32_t *ret_crc)
{
	const Elf64_Shdr *header = elf_section_find(file, ".gnu_debuglink");
	size_t length, crc_at;
	char *bytes;
	bool found;

	if (!header)
		return false;
	bytes = elf_file_copy(file, header->sh_offset, header->sh_size, ELF_LINK_NAME_MAX + 8);
	if (!bytes)
		return false;
	/* The name, padded with NULs to a multiple of four bytes; then the checksum. */
	length = strnlen(bytes, header->sh_size);
	crc_at = (length + 4) & ~(size_t)3;
	found = length && length < ELF_LINK_NAME_MAX &&
		crc_at + sizeof(*ret_crc) <= header->sh_size;
	if (found) {
		memcpy(ret_name, bytes, length + 1);
		memcpy(ret_crc, bytes + crc_at, sizeof(*ret_crc));
	}
	free(bytes);
	return found;
}
