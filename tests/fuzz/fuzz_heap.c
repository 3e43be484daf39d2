/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Heaps of interpreters in memory that the input has written over: what a region is, and the counter of collections. */
#include "frames/gc_search.h"
#include "interp/heap_region.h"
#include "interp/frames_ops.h"
#include "python/python_layout.h"
#include "ruby/ruby_release.h"
#include "interp_memory.h"

/* The image is there twice: the heaps are in the second one, their descriptions in the first one. */
#define SECOND 0x200000u
#define AT(offset) (IMAGE_BASE + (offset))
#define HEAP (IMAGE_BASE + SECOND)

#define GLOBALS 0x200u
#define DESCRIPTION 0x300u
#define SPACE 0x400u
#define LIST 0xc00u

/* A search of a list and of five pools. */
#define READS_MAX 500

static size_t reads;

static bool read_twice(void *context, uint64_t address, void *bytes, size_t size)
{
	reads++;
	return image_read(context, address & ~(uint64_t)SECOND, bytes, size);
}

static void put_number(struct image *image, uint32_t offset, uint32_t number)
{
	memcpy(image->bytes + offset, &number, sizeof(number));
}

/* A page of Ruby's 3.1, a pool of CPython's behind it, and a chunk of PHP's, by `kind`. */
static void build_region(struct image *image, unsigned int kind)
{
	if (kind == 0) {
		image_put(image, 0, AT(DESCRIPTION));
		put_number(image, DESCRIPTION, 409 << 16 | 40);
		image_put(image, DESCRIPTION + 32, HEAP + 16);
	} else if (kind == 1) {
		put_number(image, 0, 3);
		put_number(image, 36, 3);
		put_number(image, 40, 48 + 3 * 64);
		put_number(image, 44, 0x1000 - 64);
	} else {
		image_put(image, 0, AT(64));
		image_put(image, 8, HEAP);
		image_put(image, 16, HEAP);
	}
}

static void check_region(struct image *image, const uint8_t *data, size_t size)
{
	static const uint64_t lengths[] = { 0x4000, 0x100000, 0x200000, 0x10000 };
	static const enum region regions[] = { REGION_RUBY_HEAP, REGION_PYTHON_ARENA,
					       REGION_PHP_HEAP };
	struct target_memory memory = { .read = read_twice, .context = image };
	uint64_t start = HEAP, end = HEAP + lengths[*data >> 2 & 3];
	unsigned int kind = *data % 3;
	enum region region;

	build_region(image, kind);
	if (size == 1)
		MUST(heap_region_find(&memory, HEAP, HEAP + lengths[kind]) == regions[kind]);
	image_write(image, data + 1, size - 1);
	if (*data & 16 && size > sizeof(start)) {
		memcpy(&start, data + size - sizeof(start), sizeof(start));
		end = start + lengths[*data >> 2 & 3];
	}
	reads = 0;
	region = heap_region_find(&memory, start, end);
	MUST(region >= REGION_NONE && region < REGION_COUNT && reads <= READS_MAX);
}

/* A heap of Ruby 3.1 with one page, or the lists of CPython 3.9. */
static struct interpreter build_counter(struct image *image, bool ruby)
{
	struct interpreter interpreter = { .globals = AT(GLOBALS) };
	uint32_t head;

	if (ruby) {
		image_put(image, GLOBALS, HEAP + 16 + 40);
		image_put(image, 0, AT(DESCRIPTION));
		image_put(image, DESCRIPTION + 32, HEAP + 16);
		image_put(image, DESCRIPTION + 16, AT(SPACE) + 40);
		image_put(image, SPACE + 256, AT(LIST));
		image_put(image, SPACE + 264, 1);
		image_put(image, LIST, AT(DESCRIPTION));
		interpreter.kind = INTERP_RUBY;
		return interpreter;
	}
	image_put(image, GLOBALS + 32, AT(SPACE));
	for (head = SPACE + 640; head < SPACE + 640 + 72; head += 24) {
		image_put(image, head, AT(head));
		image_put(image, head + 8, AT(head));
	}
	interpreter.kind = INTERP_PYTHON;
	return interpreter;
}

static void check_counter(struct image *image, const uint8_t *data, size_t size)
{
	static const char *const versions[] = { "3.1.2", "3.2.0", "3.3.8", "3.4.0" };
	struct target_memory memory = { .read_present = read_twice, .context = image };
	struct interpreter interpreter = build_counter(image, *data & 1);
	const struct python_layout layout = { .minor = 9 + (*data >> 1 & 7) };
	struct gc_counter counter;
	bool is_running;
	uint64_t count;

	if (interpreter.kind == INTERP_RUBY)
		ruby_release_keep(&interpreter, ruby_release_find(versions[*data >> 1 & 3]));
	else
		python_layout_keep(&interpreter, &layout);
	if (size == 1 && !(*data >> 1 & 7)) {
		MUST(gc_search_find(&interpreter, &memory, &counter));
		MUST(gc_counter_read(&counter, &memory, &count, &is_running));
		MUST(!count && !is_running);
	}
	image_write(image, data + 1, size - 1);
	reads = 0;
	if (gc_search_find(&interpreter, &memory, &counter)) {
		MUST(counter.count);
		gc_counter_read(&counter, &memory, &count, &is_running);
	}
	MUST(reads <= READS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;

	if (!size)
		return 0;
	memset(&image, 0, sizeof(image));
	if (*data & 128)
		check_region(&image, data, size);
	else
		check_counter(&image, data, size);
	return 0;
}
