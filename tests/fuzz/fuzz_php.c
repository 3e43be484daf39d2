/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PHP's structures in memory that the input has written over: the check of the layout, and the names of a frame. */
#include "interp_memory.h"
#include "php/php_name.h"

#define AT(offset) (IMAGE_BASE + (offset))
#define GLOBALS 0u
#define CALLS 0x400u
#define MAIN 0x600u
#define INTERNAL 0x800u
#define OPS 0xa00u
#define FILENAME 0xc00u
#define NAME 0xe00u
#define CLASS 0x1000u
#define CLASS_NAME 0x1200u

static void build_text(struct image *image, uint32_t at, const char *text)
{
	image_put(image, at + PHP_STRING_HASH, 0x1234567);
	image_put(image, at + PHP_STRING_LENGTH, strlen(text));
	memcpy(image->bytes + at + PHP_STRING_BYTES, text, strlen(text));
}

/* An internal method that the main program has called. */
static void build(struct image *image, const struct php_layout *layout)
{
	uint32_t current = GLOBALS + layout->walk.current;

	image_put(image, current - 32, AT(0x2000));
	image_put(image, current - 24, AT(0x1000) + (1u << 18));
	image_put(image, current - 16, AT(0x1000));
	image_put(image, current - 8, 1u << 18);
	image_put(image, current, AT(CALLS));
	image_put(image, CALLS + PHP_FRAME_FUNCTION, AT(INTERNAL));
	image_put(image, CALLS + PHP_FRAME_PREVIOUS, AT(CALLS) + 0x80);
	image_put(image, CALLS + 0x80 + PHP_FRAME_FUNCTION, AT(MAIN));
	image_put(image, CALLS + 0x80 + PHP_FRAME_OPLINE, AT(OPS) + 2 * PHP_OP_BYTES);
	image_put(image, INTERNAL, PHP_INTERNAL_FUNCTION);
	image_put(image, INTERNAL + PHP_FUNCTION_NAME, AT(NAME));
	image_put(image, INTERNAL + PHP_FUNCTION_SCOPE, AT(CLASS));
	image_put(image, CLASS + PHP_CLASS_NAME, AT(CLASS_NAME));
	image_put(image, MAIN, PHP_USER_FUNCTION);
	image_put(image, MAIN + layout->walk.filename, AT(FILENAME));
	image_put(image, MAIN + layout->op_count, 5);
	image_put(image, MAIN + layout->ops, AT(OPS));
	build_text(image, FILENAME, "/path");
	build_text(image, NAME, "method");
	build_text(image, CLASS_NAME, "Class");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const versions[] = { "8.0", "8.1", "8.2", "8.3", "8.4" };
	static struct image image;
	struct target_memory memory = { image_read, &image };
	struct interp_frame frame = { .at = 7 };
	const struct php_layout *layout;
	static struct interp_code copy;
	struct interp_name name;
	size_t used;

	if (!size)
		return 0;
	layout = php_layout_find(versions[*data % 5]);
	MUST(layout);
	memset(&image, 0, sizeof(image));
	build(&image, layout);
	if (size == 1) {
		MUST(php_layout_is_state(layout, &memory, AT(GLOBALS)));
		MUST(php_layout_check(layout, &memory, AT(GLOBALS)));
	}
	used = 1 + image_write(&image, data + 1, size - 1);
	php_layout_is_state(layout, &memory, AT(GLOBALS));
	php_layout_check(layout, &memory, AT(GLOBALS));
	frame.code = *data & 128 ? AT(MAIN) : AT(INTERNAL);
	if (php_name_frame(layout, &memory, &frame, &name))
		check_name(&name);
	image_copy(&image, &copy, frame.code, AT(NAME), data + used, size - used);
	if (php_name_copy(layout, &memory, &frame, &copy, &name))
		check_name(&name);
	return 0;
}
