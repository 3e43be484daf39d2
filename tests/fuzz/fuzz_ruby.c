/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ruby's structures in memory that the input has written over: the check of the layout, and the names of a frame. */
#include "interp_memory.h"
#include "ruby/ruby_name.h"

#define AT(offset) (IMAGE_BASE + (offset))
#define STACK 0u
#define STACK_WORDS 256u
#define CONTEXT 0x900u
#define THREAD 0xa00u
#define ISEQ 0xb00u
#define BODY 0xc00u
#define PATH 0xe00u
#define CODE 0x1000u
#define LINES 0x1200u
#define INDEX 0x1400u
#define HANDLER 0x7f0000001234u

/* One frame of a method of 100 instructions, above the dummy. */
static void build(struct image *image, const struct ruby_release *layout)
{
	uint32_t frame = STACK + STACK_WORDS * 8 - 2 * layout->frame_size;

	image_put(image, CONTEXT, AT(STACK));
	image_put(image, CONTEXT + 8, STACK_WORDS);
	image_put(image, CONTEXT + 16, AT(frame));
	image_put(image, CONTEXT + layout->context_thread, AT(THREAD));
	image_put(image, THREAD + layout->thread_context, AT(CONTEXT));
	if (layout->thread_native)
		image_put(image, THREAD + layout->thread_native, AT(THREAD) + 128);
	image_put(image, THREAD + (layout->thread_native ? 128 : 0) + layout->identity, 42);
	image_put(image, CODE, HANDLER);
	image_put(image, frame, AT(CODE) + 80);
	image_put(image, frame + 16, AT(ISEQ));
	image_put(image, ISEQ, 0x1a | 7 << 12);
	image_put(image, ISEQ + RUBY_ISEQ_BODY, AT(BODY));
	image_put(image, BODY, 100ull << 32);
	image_put(image, BODY + RUBY_BODY_CODE, AT(CODE));
	image_put(image, BODY + RUBY_BODY_PATH, AT(PATH));
	image_put(image, BODY + RUBY_BODY_LABEL, AT(PATH));
	image_put(image, BODY + RUBY_BODY_FIRST_LINE, 3);
	image_put(image, BODY + layout->lines, AT(LINES));
	image_put(image, BODY + layout->line_count, 20);
	image_put(image, BODY + layout->line_index, AT(INDEX));
	image_put(image, PATH, 5 | 1u << 13);
	image_put(image, PATH + 16, 9);
	image_put(image, PATH + 24, AT(PATH) + 64);
	memcpy(image->bytes + PATH + 64, "some path", 9);
	image_put(image, INDEX, 0x1020408102040801);
	image_put(image, INDEX + 8, 0x1020408102040801);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const versions[] = { "2.6.0", "2.7.8", "3.0.0", "3.1.2",
						"3.2.0", "3.3.8", "3.4.0", "4.0.0" };
	static struct image image;
	struct target_memory memory = { image_read, &image };
	const struct ruby_release *layout;
	static struct interp_code copy;
	struct interp_name name;
	uint64_t state;
	size_t used;

	if (!size)
		return 0;
	layout = ruby_release_find(versions[*data & 7]);
	MUST(layout);
	state = layout->by_thread ? AT(THREAD) : AT(CONTEXT);
	memset(&image, 0, sizeof(image));
	build(&image, layout);
	if (size == 1) {
		MUST(ruby_frames_is_state(layout, &memory, state, 42));
		MUST(ruby_frames_check(layout, &memory, state));
		MUST(ruby_frames_handler(layout, &memory, state) == HANDLER);
	}
	used = 1 + image_write(&image, data + 1, size - 1);
	ruby_frames_is_state(layout, &memory, state, 42);
	ruby_frames_check(layout, &memory, state);
	ruby_frames_handler(layout, &memory, state);
	if (ruby_name_frame(layout, &memory, AT(ISEQ), AT(CODE) + 8 * (data[0] >> 3), &name))
		check_name(&name);
	image_copy(&image, &copy, AT(BODY), AT(PATH), data + used, size - used);
	if (ruby_name_copy(layout, &memory, &copy, 8 * (data[0] >> 3), &name))
		check_name(&name);
	return 0;
}
