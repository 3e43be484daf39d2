/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's structures in memory that the input has written over: the check of the layout, the names of a frame, from
 * memory and from copies; and tables of lines, and the interpreter's own table of offsets, that are the input.
 */
#include "interp_memory.h"
#include "python/python_name.h"

#define AT(offset) (IMAGE_BASE + (offset))
#define STATE 0u
#define FRAME 0x400u
#define CODE 0x600u
#define FILENAME 0x800u
#define NAME 0xa00u
#define LINES 0xc00u
#define TYPE 0x1000u

static void build_text(struct image *image, const struct python_layout *layout, uint32_t at)
{
	image_put(image, at + PYTHON_LENGTH, 5);
	image_put(image, at + PYTHON_STATE, 1 << 2 | 1 << 5 | 1 << 6);
	memcpy(image->bytes + at + layout->walk.text, "hello", 5);
}

static void build(struct image *image, const struct python_layout *layout)
{
	const struct interp_python *walk = &layout->walk;

	image_put(image, STATE + walk->state_frame, walk->indirect ? AT(0x300) : AT(FRAME));
	image_put(image, 0x300 + walk->indirect_frame, AT(FRAME));
	image_put(image, STATE + layout->identity, 42);
	image_put(image, FRAME + walk->code, AT(CODE));
	image_put(image, CODE, 1);
	image_put(image, CODE + PYTHON_TYPE, AT(TYPE));
	image_put(image, CODE + walk->filename, AT(FILENAME));
	image_put(image, CODE + walk->name, AT(NAME));
	image_put(image, CODE + walk->lines, AT(LINES));
	build_text(image, layout, FILENAME);
	build_text(image, layout, NAME);
	image_put(image, LINES + PYTHON_LENGTH, 16);
}

static void check_memory(struct python_layout *layout, const uint8_t *data, size_t size)
{
	static struct image image;
	static struct interp_code copy;
	struct target_memory memory = { image_read, &image };
	struct interp_name name;
	size_t used;

	layout->code_type = AT(TYPE);
	memset(&image, 0, sizeof(image));
	build(&image, layout);
	if (!size) {
		MUST(python_layout_is_state(layout, &memory, AT(STATE), 42));
		MUST(python_layout_check(layout, &memory, AT(STATE)));
	}
	used = image_write(&image, data, size);
	python_layout_is_state(layout, &memory, AT(STATE), 42);
	python_layout_check(layout, &memory, AT(STATE));
	if (python_name_frame(layout, &memory, AT(CODE), size & 63, &name))
		check_name(&name);
	image_copy(&image, &copy, AT(CODE), AT(NAME), data + used, size - used);
	if (python_name_copy(layout, &memory, &copy, size & 63, &name))
		check_name(&name);
}

static void check_lines(unsigned int kind, const uint8_t *data, size_t size)
{
	uint32_t line;
	int64_t at;

	for (at = -2; at < 64; at += 2)
		if (python_lines_find((enum python_lines)(kind % 3), data, size, 1, at, &line))
			MUST(line <= INT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_layout layout;
	uint8_t offsets[PYTHON_OFFSETS_SIZE] = { 0 };

	if (!size)
		return 0;
	if (*data & 0x80) {
		check_lines(*data, data + 1, size - 1);
	} else if (*data & 0x40) {
		memcpy(offsets, data + 1, size - 1 < sizeof(offsets) ? size - 1 : sizeof(offsets));
		memcpy(offsets, "xdebugpy\0\0\x0d\x03\0\0\0\0", 16);
		if (python_layout_read(offsets, &layout))
			MUST(layout.walk.frame_size <= INTERP_PYTHON_FRAME_MAX);
	} else {
		MUST(python_layout_find(8 + *data % 5, &layout));
		check_memory(&layout, data + 1, size - 1);
	}
	return 0;
}
