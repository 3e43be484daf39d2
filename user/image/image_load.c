/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An image from a file, which anybody may have made: see image_record.h. */
#include "image/image_record.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "image/image_record_private.h"

struct piece {
	uint64_t address, size;
	unsigned char *bytes; /* owned */
};

struct recording {
	struct image_mapping *mappings; /* names are owned */
	size_t mapping_count, mapping_capacity;
	struct image_run *runs;
	size_t run_count, run_capacity;
	struct piece *pieces; /* in the order of addresses; they do not overlap */
	size_t piece_count, piece_capacity;
};

static void recording_close(void *context)
{
	struct recording *recording = context;
	size_t i;

	for (i = 0; i < recording->mapping_count; i++)
		free((char *)recording->mappings[i].name);
	for (i = 0; i < recording->piece_count; i++)
		free(recording->pieces[i].bytes);
	free(recording->mappings);
	free(recording->runs);
	free(recording->pieces);
	free(recording);
}

/* The first piece that ends behind `address`. */
static size_t recording_search(const struct recording *recording, uint64_t address)
{
	size_t low = 0, high = recording->piece_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (recording->pieces[middle].address + recording->pieces[middle].size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t recording_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct recording *recording = context;
	size_t at = recording_search(recording, address), done, part;

	for (done = 0; done < size && at < recording->piece_count; done += part, at++) {
		const struct piece *piece = &recording->pieces[at];

		if (piece->address > address + done)
			break;
		part = piece->size - (address + done - piece->address);
		part = part < size - done ? part : size - done;
		memcpy((char *)bytes + done, piece->bytes + (address + done - piece->address),
		       part);
	}
	return done;
}

static bool recording_mappings(void *context, struct image *image)
{
	const struct recording *recording = context;
	size_t i;

	for (i = 0; i < recording->mapping_count; i++)
		image_add_mapping(image, &recording->mappings[i]);
	return true;
}

/* Runs are in the order of addresses, mapping after mapping. */
static bool recording_pages(void *context, struct image *image, uint64_t start, uint64_t end)
{
	const struct recording *recording = context;
	size_t low = 0, high = recording->run_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (recording->runs[middle].end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < recording->run_count && recording->runs[low].start < end; low++) {
		const struct image_run *run = &recording->runs[low];

		image_add_pages(image, run->start > start ? run->start : start,
				run->end < end ? run->end : end, run->bits);
	}
	return true;
}

static const struct image_source recording_source = {
	.read = recording_read,
	.read_anonymous = recording_read,
	.mappings = recording_mappings,
	.pages = recording_pages,
	.close = recording_close,
};

struct loading {
	gzFile file;
	struct recording *recording;
	uint64_t left; /* bytes that may still be read: a small file can be that of a large image */
	bool large; /* there were more */
};

/* Exactly so many bytes. */
static bool load_bytes(struct loading *loading, void *bytes, size_t size)
{
	if (size > loading->left) {
		loading->large = true;
		return false;
	}
	loading->left -= size;
	return gzread(loading->file, bytes, (unsigned int)size) == (int)size;
}

static bool load_mapping(struct loading *loading)
{
	struct recording *recording = loading->recording;
	struct record_mapping record;
	struct image_mapping mapping;
	char *name;

	if (!load_bytes(loading, &record, sizeof(record)) || record.name_length > RECORD_NAME_MAX)
		return false;
	name = memory_alloc(1, record.name_length + 1);
	mapping = (struct image_mapping){
		.start = record.start,
		.end = record.end,
		.file_offset = record.file_offset,
		.device = record.device,
		.inode = record.inode,
		.readable = record.flags & RECORD_READABLE,
		.writable = record.flags & RECORD_WRITABLE,
		.executable = record.flags & RECORD_EXECUTABLE,
		.shared = record.flags & RECORD_SHARED,
		.deleted = record.flags & RECORD_DELETED,
		.device_memory = record.flags & RECORD_DEVICE,
		.huge_pages = record.flags & RECORD_HUGE,
		.unchanged = record.flags & RECORD_UNCHANGED,
		.name = name,
	};
	recording->mappings = memory_grow(recording->mappings, recording->mapping_count,
					  &recording->mapping_capacity, sizeof(mapping));
	recording->mappings[recording->mapping_count++] = mapping;
	return load_bytes(loading, name, record.name_length);
}

static bool load_run(struct loading *loading)
{
	struct recording *recording = loading->recording;
	struct record_run record;

	if (!load_bytes(loading, &record, sizeof(record)) || record.start >= record.end ||
	    (recording->run_count && record.start < recording->runs[recording->run_count - 1].end))
		return false;
	recording->runs = memory_grow(recording->runs, recording->run_count,
				      &recording->run_capacity, sizeof(*recording->runs));
	recording->runs[recording->run_count++] =
		(struct image_run){ record.start, record.end,
				    (unsigned int)(record.bits & UCHAR_MAX) };
	return true;
}

/* Returns 1, 0 at the end, or a negative errno. */
static int load_piece(struct loading *loading)
{
	struct recording *recording = loading->recording;
	const struct piece *last =
		recording->piece_count ? &recording->pieces[recording->piece_count - 1] : NULL;
	struct record_piece record;
	unsigned char *bytes;

	if (!load_bytes(loading, &record, sizeof(record)))
		return -EINVAL;
	if (!record.size)
		return 0;
	if (record.size > RECORD_PIECE_MAX || record.address > INT64_MAX ||
	    (last && record.address < last->address + last->size))
		return -EINVAL;
	if (record.size > loading->left) {
		loading->large = true;
		return -EINVAL;
	}
	bytes = memory_alloc(1, record.size);
	recording->pieces = memory_grow(recording->pieces, recording->piece_count,
					&recording->piece_capacity, sizeof(*recording->pieces));
	recording->pieces[recording->piece_count++] =
		(struct piece){ record.address, record.size, bytes };
	return load_bytes(loading, bytes, record.size) ? 1 : -EINVAL;
}

/* Returns 0 or a negative errno. Each item that is announced is read before there is room for the next one. */
static int load_all(struct loading *loading, struct record_head *head)
{
	uint64_t i;
	int code;

	if (!load_bytes(loading, head, sizeof(*head)) || head->magic != RECORD_MAGIC ||
	    head->page_size < 4096 || head->page_size > 65536 ||
	    head->page_size & (head->page_size - 1) || head->own_pid > INT_MAX)
		return -EINVAL;
	for (i = 0; i < head->mapping_count; i++)
		if (!load_mapping(loading))
			return -EINVAL;
	for (i = 0; i < head->run_count; i++)
		if (!load_run(loading))
			return -EINVAL;
	do
		code = load_piece(loading);
	while (code > 0);
	return code;
}

int image_load(int fd, uint64_t most, struct image **ret_image, struct error *error)
{
	struct recording *recording = memory_alloc(1, sizeof(*recording));
	struct loading loading = { .recording = recording, .left = most };
	struct record_head head;
	int copy = dup(fd), code = -EINVAL;

	loading.file = copy < 0 ? NULL : gzdopen(copy, "rb");
	if (loading.file) {
		code = load_all(&loading, &head);
		gzclose(loading.file);
	} else if (copy >= 0) {
		close(copy);
	}
	if (code) {
		recording_close(recording);
		return error_set(error, ERROR_USAGE, loading.large ? -EFBIG : code,
				 loading.large ? "the recorded image is too large"
					       : "this is no image that was recorded");
	}
	*ret_image = image_new(&recording_source, recording, head.page_size);
	(*ret_image)->own_pid = (pid_t)head.own_pid;
	image_refresh(*ret_image);
	return 0;
}
