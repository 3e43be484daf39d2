/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of interpreters' frames are kept, and noticed to be of other code. Memory is made by hand, as CPython 3.11 has it;
 * truth is what was put there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "frames/frame_names.h"
#include "python/python_layout.h"

#define BASE 0x10000ull
#define TYPE 0x7000ull
#define CODE 0x100u
#define NAME 0x400u
#define OTHER 0x500u
#define FILENAME 0x600u
#define LINES 0x800u
#define WARMUP 52u /* of a code object: a counter that the interpreter changes */

struct fake {
	uint8_t bytes[4096];
	bool gone;
	unsigned int reads;
};

static bool fake_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct fake *fake = context;
	uint64_t offset = address - BASE;

	fake->reads++;
	if (fake->gone || offset > sizeof(fake->bytes) || size > sizeof(fake->bytes) - offset)
		return false;
	memcpy(bytes, fake->bytes + offset, size);
	return true;
}

static void put(struct fake *fake, uint32_t at, uint64_t word)
{
	memcpy(fake->bytes + at, &word, sizeof(word));
}

static void put_text(struct fake *fake, uint32_t at, const char *text)
{
	put(fake, at + PYTHON_LENGTH, strlen(text));
	put(fake, at + PYTHON_STATE, 1 << 2 | 1 << 5 | 1 << 6);
	memcpy(fake->bytes + at + 48, text, strlen(text));
}

/* A function that begins at line 10; its first instruction is at line 12. */
static struct interpreter make(struct fake *fake)
{
	struct interpreter interpreter = { .kind = INTERP_PYTHON };
	struct python_layout layout;

	memset(fake, 0, sizeof(*fake));
	assert_true(python_layout_find(11, &layout));
	layout.code_type = TYPE;
	python_layout_keep(&interpreter, &layout);
	put(fake, CODE, 1);
	put(fake, CODE + 8, TYPE);
	put(fake, CODE + 72, 10);
	put(fake, CODE + 112, BASE + FILENAME);
	put(fake, CODE + 128, BASE + NAME);
	put(fake, CODE + 136, BASE + LINES);
	put_text(fake, NAME, "Class.method");
	put_text(fake, OTHER, "another");
	put_text(fake, FILENAME, "app.py");
	put(fake, LINES + PYTHON_LENGTH, 3);
	memcpy(fake->bytes + LINES + PYTHON_BYTES, "\xe0\x00\x00",
	       3); /* one unit, 2 lines further */
	return interpreter;
}

static void test_kept(void **state)
{
	struct fake fake;
	struct interpreter interpreter = make(&fake);
	struct target_memory memory = { fake_read, &fake };
	struct frame_names *names = frame_names_new();
	struct known_frames known = { 0 }, others = { 0 };
	struct interp_frame frame = { .code = BASE + CODE };
	const struct frame_named *first, *second;
	const struct frame_name *name;
	unsigned int reads;

	(void)state;
	first = frame_names_get(names, &known, &interpreter, &memory, &frame, NULL);
	assert_non_null(first);
	assert_string_equal(first->name->function, "Class.method");
	assert_string_equal(first->name->file, "app.py");
	assert_int_equal(first->name->line, 12);
	assert_false(first->covers_next);
	/* Asked again, it takes a single look. */
	reads = fake.reads;
	assert_ptr_equal(frame_names_get(names, &known, &interpreter, &memory, &frame, NULL),
			 first);
	assert_int_equal(fake.reads, reads + 1);
	/* Another process is asked by itself; that it has the same name takes no more memory. */
	second = frame_names_get(names, &others, &interpreter, &memory, &frame, NULL);
	assert_true(fake.reads > reads + 2);
	assert_ptr_equal(second->name, first->name);
	name = first->name;
	frame_names_forget(&others);
	frame_names_forget(&known);
	assert_string_equal(name->function, "Class.method");
	frame_names_free(names);
	frame_names_free(NULL);
}

static void test_replaced(void **state)
{
	struct fake fake;
	struct interpreter interpreter = make(&fake);
	struct target_memory memory = { fake_read, &fake };
	struct frame_names *names = frame_names_new();
	struct known_frames known = { 0 };
	struct interp_frame frame = { .code = BASE + CODE };
	const struct frame_named *first, *second;

	(void)state;
	first = frame_names_get(names, &known, &interpreter, &memory, &frame, NULL);
	put(&fake, CODE + 128, BASE + OTHER);
	second = frame_names_get(names, &known, &interpreter, &memory, &frame, NULL);
	assert_string_equal(second->name->function, "another");
	/* The old name is still there, for those that have it. */
	assert_string_equal(first->name->function, "Class.method");
	put(&fake, CODE + 128, BASE + NAME);
	assert_ptr_equal(frame_names_get(names, &known, &interpreter, &memory, &frame, NULL),
			 first);
	fake.gone = true;
	assert_null(frame_names_get(names, &known, &interpreter, &memory, &frame, NULL));
	frame_names_forget(&known);
	frame_names_free(names);
}

/* Copy what names the function, as the programs do. */
static void copy_code(const struct fake *fake, struct interp_code *copy)
{
	static const uint32_t parts[] = { CODE, FILENAME, NAME, LINES };
	uint32_t i, at;

	memset(copy, 0, sizeof(*copy));
	for (i = 0; i < INTERP_PARTS; i++) {
		if (i >= 4 && i < INTERP_PART_LINES_MORE)
			continue;
		at = i < 4 ? parts[i]
			   : LINES + (i - INTERP_PART_LINES_MORE + 1) * INTERP_PART_BYTES;
		copy->parts[i].address = BASE + at;
		copy->parts[i].size = INTERP_PART_BYTES;
		memcpy(copy->parts[i].bytes, fake->bytes + at, INTERP_PART_BYTES);
	}
}

/* Each unit is a line of its own, and is described in five bytes: the first at line 11, and so on. */
static void put_long_lines(struct fake *fake, uint32_t units)
{
	uint32_t i;

	put(fake, LINES + PYTHON_LENGTH, units * 5ull);
	for (i = 0; i < units; i++)
		memcpy(fake->bytes + LINES + PYTHON_BYTES + i * 5, "\xf0\x02\x00\x01\x01", 5);
}

static uint32_t copied_line(const struct interpreter *interpreter, struct fake *fake,
			    const struct interp_code *copy, uint32_t unit)
{
	struct target_memory memory = { fake_read, fake };
	struct interp_frame frame = { .code = BASE + CODE, .content = 77, .at = unit * 2 };
	struct interp_name name;

	assert_true(interpreter_name(interpreter, &memory, &frame, copy, &name));
	assert_string_equal(name.function, "Class.method");
	return name.line;
}

/* Tables of lines that are longer than a part: copied in several parts, also where an entry begins in one and ends in another. */
static void test_long_copy(void **state)
{
	struct fake fake;
	struct interpreter interpreter = make(&fake);
	struct interp_code copy;
	uint32_t unit;

	(void)state;
	put_long_lines(&fake, 200);
	copy_code(&fake, &copy);
	fake.gone = true;
	for (unit = 0; unit < 200; unit++)
		assert_int_equal(copied_line(&interpreter, &fake, &copy, unit), 11 + unit);
}

/*
 * What goes beyond all copies is asked of the process, as long as the function stands there. That it was run meanwhile, which
 * changes counters in it, is no matter; that another one has taken its place is.
 */
static void test_longer_than_copies(void **state)
{
	struct fake fake;
	struct interpreter interpreter = make(&fake);
	struct interp_code copy;

	(void)state;
	put_long_lines(&fake, 390);
	copy_code(&fake, &copy);
	put(&fake, CODE, 12);
	fake.bytes[CODE + WARMUP] ^= 0xff;
	assert_int_equal(copied_line(&interpreter, &fake, &copy, 389), 400);
	put(&fake, CODE + 128, BASE + OTHER);
	assert_int_equal(copied_line(&interpreter, &fake, &copy, 389), 0);
	assert_int_equal(copied_line(&interpreter, &fake, &copy, 20), 31);
	put(&fake, CODE + 128, BASE + NAME);
	fake.gone = true;
	assert_int_equal(copied_line(&interpreter, &fake, &copy, 389), 0);
	assert_int_equal(copied_line(&interpreter, &fake, &copy, 20), 31);
}

/* Of code whose copy could not be had, nobody knows whether it still stands there. */
static void test_lost_copy(void **state)
{
	struct fake fake;
	struct interpreter interpreter = make(&fake);
	struct target_memory memory = { fake_read, &fake };
	struct interp_frame frame = { .code = BASE + CODE, .content = 77 };
	struct interp_name name;

	(void)state;
	assert_false(interpreter_name(&interpreter, &memory, &frame, NULL, &name));
	frame.content = 0;
	assert_true(interpreter_name(&interpreter, &memory, &frame, NULL, &name));
	assert_string_equal(name.function, "Class.method");
}

/* Code that is no more can be named by the copy that was made of it. */
static void test_copy(void **state)
{
	struct fake fake;
	struct interpreter interpreter = make(&fake);
	struct target_memory memory = { fake_read, &fake };
	struct frame_names *names = frame_names_new();
	struct known_frames known = { 0 };
	struct interp_frame frame = { .code = BASE + CODE, .content = 77 };
	const struct frame_named *named;
	struct interp_code copy;

	(void)state;
	copy_code(&fake, &copy);
	fake.gone = true;
	assert_null(frame_names_get(names, &known, &interpreter, &memory, &frame, NULL));
	named = frame_names_get(names, &known, &interpreter, &memory, &frame, &copy);
	assert_non_null(named);
	assert_string_equal(named->name->function, "Class.method");
	assert_int_equal(named->name->line, 12);
	assert_ptr_equal(frame_names_get(names, &known, &interpreter, &memory, &frame, NULL),
			 named);
	frame_names_forget(&known);
	frame_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_long_copy),
		cmocka_unit_test(test_longer_than_copies),
		cmocka_unit_test(test_lost_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
