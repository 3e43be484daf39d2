/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The readers of interpreters' frames over memory made by hand. Truth is how the memory was made; how real interpreters
 * fill it is the matter of test_interp_live.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "interp_world.h"
#include "python/python_layout.h"
#include "ruby/ruby_frames.h"

#define THREAD 0x7f0000001000ull
#define CONTEXT 0x560000000000ull
#define STACK 0x7f1000000000ull
#define STACK_WORDS 4096u
#define HEAP 0x7f2000000000ull

static uint64_t thread_words[512]; /* at THREAD - 2048 */
static uint64_t context_words[16];
static uint64_t stack_words[STACK_WORDS];
static uint8_t heap[65536];

static void start(enum interp_kind kind)
{
	interp_world_start();
	memset(thread_words, 0, sizeof(thread_words));
	memset(context_words, 0, sizeof(context_words));
	memset(stack_words, 0, sizeof(stack_words));
	memset(heap, 0, sizeof(heap));
	shim_add_region(THREAD - 2048, thread_words, sizeof(thread_words), false);
	shim_add_region(CONTEXT, context_words, sizeof(context_words), false);
	shim_add_region(STACK, stack_words, sizeof(stack_words), false);
	shim_add_region(HEAP, heap, sizeof(heap), false);
	world.process.kind = kind;
	world.process.anchor = (uint64_t)-16;
	thread_words[(2048 - 16) / 8] = CONTEXT;
}

static void walk(uint32_t depth)
{
	interp_walk_stack(&world.walk, &world.process, THREAD, depth);
	while (interp_describe_one(&world.walk))
		;
}

static void put(uint32_t at, uint64_t value)
{
	memcpy(heap + at, &value, sizeof(value));
}

static void check_part(const struct interp_code *copy, enum interp_part_kind kind, uint32_t offset,
		       const char *text)
{
	assert_int_equal(copy->parts[kind].size, INTERP_PART_BYTES);
	assert_string_equal((const char *)copy->parts[kind].bytes + offset, text);
}

/* Ruby: `count` control frames of 64 bytes and the dummy; frame i has pc 1000 + i and iseq 2000 + i. */
static void make_ruby(uint32_t count)
{
	uint32_t first = STACK_WORDS - (count + 1) * 8, i;

	start(INTERP_RUBY);
	world.process.memo = 1;
	world.process.ruby.frame_size = 64;
	context_words[0] = STACK;
	context_words[1] = STACK_WORDS;
	context_words[2] = STACK + first * 8;
	for (i = 0; i < count; i++) {
		stack_words[first + i * 8] = 1000 + i;
		stack_words[first + i * 8 + 2] = 2000 + i;
		stack_words[first + i * 8 + 4] = STACK + i * 8; /* environment */
		stack_words[i] = i % 3 == 2 ? 0x11110020 : 0x11110000;
	}
}

static void test_ruby(void **state)
{
	const struct interp_record *record = &world.walk.record;
	uint32_t i;

	(void)state;
	make_ruby(7);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(record->kind, INTERP_RUBY);
	assert_int_equal(record->count, 7);
	assert_int_equal(record->end, INTERP_END_ROOT);
	assert_true(world.walk.hash);
	for (i = 0; i < 7; i++) {
		assert_int_equal(record->frames[i].at, 1000 + i);
		assert_int_equal(record->frames[i].code, 2000 + i);
		assert_int_equal(record->frames[i].flags, i % 3 == 2 ? INTERP_FRAME_ENTRY : 0);
	}
}

/* Frames of C functions have no pc. */
static void test_ruby_native(void **state)
{
	uint32_t first = STACK_WORDS - 8 * 8;

	(void)state;
	make_ruby(7);
	stack_words[first + 8] = 0;
	stack_words[first + 24 + 2] = 0;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 5);
	assert_int_equal(world.walk.record.frames[1].at, 1002);
	assert_int_equal(world.walk.record.frames[1].flags, INTERP_FRAME_ENTRY);
	assert_int_equal(world.walk.record.frames[2].at, 1004);
}

/* More frames than the window holds, than are kept, and than are looked at. */
static void test_ruby_deep(void **state)
{
	const struct interp_record *record = &world.walk.record;
	uint32_t i;

	(void)state;
	make_ruby(100);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(record->count, 100);
	assert_int_equal(record->frames[99].at, 1099);
	assert_int_equal(record->end, INTERP_END_ROOT);
	make_ruby(100);
	walk(20);
	assert_int_equal(record->count, 20);
	assert_int_equal(record->end, INTERP_END_DEPTH);
	make_ruby(300);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(record->count, INTERP_FRAMES_MAX);
	assert_int_equal(record->end, INTERP_END_DEPTH);
	make_ruby(500);
	for (i = 0; i < 500; i++)
		stack_words[STACK_WORDS - 501 * 8 + i * 8] = 0;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(record->count, 0);
	assert_int_equal(world.walk.hash, 0);
}

/* The hash distinguishes where a frame is, and which frames there are; not where the collector has moved code. */
static void test_ruby_hash(void **state)
{
	uint32_t first = STACK_WORDS - 8 * 8;
	uint64_t hash;

	(void)state;
	make_ruby(7);
	walk(INTERP_FRAMES_MAX);
	hash = world.walk.hash;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.hash, hash);
	stack_words[first + 2] += 64;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.hash, hash);
	stack_words[first + 48] += 8;
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.hash, hash);
	make_ruby(6);
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.hash, hash);
}

/* One method whose names are a path in an array, with its text beside the string, and a label in its string. */
static void make_ruby_method(uint32_t shift)
{
	make_ruby(1);
	world.process.ruby.lines = 120;
	world.process.ruby.line_count = 136;
	world.process.ruby.line_size = 12;
	world.process.ruby.lines_index = 144;
	stack_words[STACK_WORDS - 2 * 8] = HEAP + shift + 0x1400 + 24;
	stack_words[STACK_WORDS - 2 * 8 + 2] = HEAP + shift + 0x100; /* iseq */
	put(shift + 0x100 + 16, HEAP + shift + 0x200); /* body */
	put(shift + 0x200, 9ull << 32); /* instructions */
	put(shift + 0x200 + 8, HEAP + shift + 0x1400);
	put(shift + 0x200 + 64, HEAP + shift + 0x400); /* path: an array */
	put(shift + 0x200 + 80, HEAP + shift + 0x600); /* label */
	put(shift + 0x200 + 120, HEAP + shift + 0x1000);
	put(shift + 0x200 + 136, 2);
	put(shift + 0x200 + 144, HEAP + shift + 0x1200);
	put(shift + 0x400, 7 | 1 << 13);
	put(shift + 0x410, HEAP + shift + 0x800); /* its first: a string with its text elsewhere */
	put(shift + 0x800, 5 | 1 << 13);
	put(shift + 0x810, 7);
	put(shift + 0x818, HEAP + shift + 0xa00);
	put(shift + 0x600, 5 | 5 << 14);
	strcpy((char *)heap + shift + 0x610, "label");
	strcpy((char *)heap + shift + 0xa00, "path.rb");
	strcpy((char *)heap + shift + 0x1000, "lines");
	strcpy((char *)heap + shift + 0x1200, "index");
}

static void test_ruby_copy(void **state)
{
	const struct interp_code *copy;

	(void)state;
	make_ruby_method(0);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].at, 24);
	copy = interp_world_copy(&world.walk.record.frames[0]);
	assert_non_null(copy);
	assert_int_equal(copy->parts[INTERP_PART_CODE].address, HEAP + 0x200);
	assert_int_equal(copy->parts[INTERP_PART_PATH].address, HEAP + 0x400);
	assert_int_equal(copy->parts[INTERP_PART_FILENAME].address, HEAP + 0x800);
	check_part(copy, INTERP_PART_FILENAME_TEXT, 0, "path.rb");
	assert_int_equal(copy->parts[INTERP_PART_NAME].address, HEAP + 0x600);
	assert_int_equal(copy->parts[INTERP_PART_NAME_TEXT].size, 0);
	check_part(copy, INTERP_PART_NAME, 16, "label");
	check_part(copy, INTERP_PART_LINES, 0, "lines");
	check_part(copy, INTERP_PART_LINES_INDEX, 0, "index");
}

/* Content of the method after a change of one byte of memory; with 0 none. */
static uint64_t ruby_content(uint32_t shift, uint32_t change)
{
	make_ruby_method(shift);
	heap[shift + change] ^= change ? 0x20 : 0;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 1);
	return world.walk.record.frames[0].content;
}

/* Wherever it stands, the same code is the same; what names it and its lines makes it another one, and nothing else does. */
static void test_ruby_content(void **state)
{
	static const uint32_t same[] = { 0x618, 0xa08, 0x1018 + 8, 0x1208, 0x1300 };
	static const uint32_t others[] = { 0x611, 0xa06, 0x1000, 0x1017, 0x1200, 0x200 + 88 };
	uint64_t content = ruby_content(0, 0), hash = world.walk.hash;
	size_t i;

	(void)state;
	assert_true(content);
	assert_int_equal(ruby_content(0x2000, 0), content);
	assert_int_equal(world.walk.hash, hash);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_int_equal(ruby_content(0, same[i]), content);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_not_equal(ruby_content(0, others[i]), content);
}

/* Code is looked at again when something that stood at its instructions has ended, but not when something else has. */
static void test_ruby_end(void **state)
{
	uint64_t content = ruby_content(0, 0);

	(void)state;
	heap[0xa00] = 'm';
	interp_end_code(HEAP + 0x1200);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, content);
	interp_end_code(HEAP + 0x1400);
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.record.frames[0].content, content);
	/* Another interpreter of the same thread. */
	heap[0xa00] = 'p';
	world.process.generation = 1;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, content);
}

static void test_ruby_broken(void **state)
{
	(void)state;
	make_ruby(7);
	context_words[2] = STACK + STACK_WORDS * 8; /* no frame at all */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 0);
	make_ruby(7);
	context_words[2] = 0x1000; /* far below the stack: nothing is there */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 0);
	assert_int_equal(world.walk.record.end, INTERP_END_UNREADABLE);
	make_ruby(7);
	context_words[1] = ~0ull;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.end, INTERP_END_UNREADABLE);
	make_ruby(7);
	context_words[0] = STACK + 256; /* an end that is a little too far */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 0);
	make_ruby(7);
	thread_words[(2048 - 16) / 8] = 0x1234; /* a state that is none */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.end, INTERP_END_UNREADABLE);
	make_ruby(7);
	thread_words[(2048 - 16) / 8] = 0; /* a thread without Ruby */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.kind, INTERP_NONE);
}

static void test_anchors(void **state)
{
	(void)state;
	make_ruby(3);
	world.process.through = 40; /* the word leads to a thread, which leads to the context */
	thread_words[(2048 - 16) / 8] = HEAP + 64;
	memcpy(heap + 104, &(uint64_t){ CONTEXT }, 8);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 3);
	make_ruby(3);
	world.process.anchor_kind = INTERP_ANCHOR_MODULE;
	world.process.anchor = 8;
	world.process.module = 5;
	thread_words[(2048 + 8) / 8] = HEAP; /* vector of blocks */
	memcpy(heap + 80, &(uint64_t){ HEAP + 512 }, 8);
	memcpy(heap + 520, &(uint64_t){ CONTEXT }, 8);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 3);
	memset(heap + 80, 0xff, 8); /* not used by this thread */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.kind, INTERP_NONE);
}

static void put_text(uint32_t at, const char *text)
{
	put(at + 16, strlen(text));
	put(at + 32, 1 << 2 | 1 << 5 | 1 << 6);
	strcpy((char *)heap + at + 48, text);
}

/*
 * Python 3.11: frames of 0x100 bytes at heap + 0x4000 downwards as callers go, code objects of 0x200 bytes at heap +
 * 0x8000, all with the same names and lines.
 */
static void make_python(uint32_t count)
{
	struct python_layout layout;
	uint32_t i;

	start(INTERP_PYTHON);
	assert_true(python_layout_find(11, &layout));
	world.process.python = layout.walk;
	context_words[7] = CONTEXT + 64; /* cframe */
	context_words[9] = HEAP + 0x4000;
	for (i = 0; i < count; i++) {
		uint32_t frame = 0x4000 - i * 0x100, code = 0x8000 + i * 0x200;

		put(frame + 32, HEAP + code);
		put(frame + 48, i + 1 < count ? HEAP + frame - 0x100 : 0);
		put(frame + 56, HEAP + code + 184 + 2 * i);
		put(frame + 64, i % 2 ? 1ull << 32 : 0);
		put(code + 112, HEAP + 0x100);
		put(code + 128, HEAP + 0x200);
		put(code + 136, HEAP + 0x300);
		put(code + 72, i);
	}
	put_text(0x100, "filename");
	put_text(0x200, "name");
	put(0x300 + 16, 5);
	strcpy((char *)heap + 0x300 + 32, "lines");
}

static void test_python(void **state)
{
	const struct interp_record *record = &world.walk.record;
	const struct interp_code *copy;
	uint32_t i;

	(void)state;
	make_python(20);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(record->count, 20);
	assert_int_equal(record->end, INTERP_END_ROOT);
	for (i = 0; i < 20; i++) {
		assert_int_equal(record->frames[i].code, HEAP + 0x8000 + i * 0x200);
		assert_int_equal(record->frames[i].at, 2 * i);
		assert_int_equal(record->frames[i].flags, i % 2 ? INTERP_FRAME_ENTRY : 0);
		copy = interp_world_copy(&record->frames[i]);
		assert_non_null(copy);
		assert_int_equal(copy->parts[INTERP_PART_CODE].address, record->frames[i].code);
		assert_int_equal(copy->parts[INTERP_PART_CODE].bytes[72], i);
		check_part(copy, INTERP_PART_FILENAME, 48, "filename");
		check_part(copy, INTERP_PART_NAME, 48, "name");
		check_part(copy, INTERP_PART_LINES, 32, "lines");
	}
	/* What is known is not copied again. */
	i = world.code_count;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.code_count, i);
}

/* Few reads, once the code is known: frames stand close together, and one window has many. */
static void test_python_reads(void **state)
{
	(void)state;
	make_python(15);
	world.process.memo = 1;
	walk(INTERP_FRAMES_MAX);
	shim.reads = 0;
	interp_walk_stack(&world.walk, &world.process, THREAD, INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 15);
	assert_true(shim.reads <= 5);
}

/* Content of a code object after a change of one byte of memory; with 0 none. */
static uint64_t python_content(uint32_t change)
{
	make_python(1);
	heap[change] ^= change ? 0x20 : 0;
	walk(INTERP_FRAMES_MAX);
	return world.walk.record.frames[0].content;
}

static void test_python_content(void **state)
{
	/* Reference counts, a cached hash, what is behind texts and tables; the code object's counters. */
	static const uint32_t same[] = { 0x101, 0x118, 0x13a, 0x238, 0x326, 0x8000 + 52 };
	static const uint32_t others[] = { 0x137, 0x230, 0x233, 0x320, 0x324, 0x8000 + 72 };
	uint64_t content = python_content(0);
	size_t i;

	(void)state;
	assert_true(content);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_int_equal(python_content(same[i]), content);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_not_equal(python_content(others[i]), content);
	/* All but the first have other first lines; with the same one they are the same, wherever they stand. */
	make_python(3);
	put(0x8200 + 72, 0);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[1].content, content);
	assert_int_not_equal(world.walk.record.frames[2].content, content);
}

/* A table of lines that goes on beyond the first part. */
static void test_python_long_lines(void **state)
{
	uint64_t content;

	(void)state;
	make_python(1);
	put(0x300 + 16, 1400);
	walk(INTERP_FRAMES_MAX);
	content = world.walk.record.frames[0].content;
	heap[0x320 + 1399] ^= 1;
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.record.frames[0].content, content);
	heap[0x320 + 1399] ^= 1;
	heap[0x320 + 1400] ^= 1;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, content);
}

/* Another code object at the same address: its end is probed, or else each is read each time. */
static void test_python_reuse(void **state)
{
	uint64_t first;

	(void)state;
	make_python(1);
	walk(INTERP_FRAMES_MAX);
	first = world.walk.record.frames[0].content;
	put_text(0x200, "eman");
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.record.frames[0].content, first);
	assert_int_equal(world.code_count, 2);
	make_python(1);
	world.process.memo = 1;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, first);
	put_text(0x200, "eman");
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, first);
	interp_end_code(HEAP + 0x8000);
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.record.frames[0].content, first);
}

/* What could not be read is looked at again. */
static void test_python_absent(void **state)
{
	uint64_t content = python_content(0);

	(void)state;
	make_python(1);
	world.process.memo = 1;
	put(0x8000 + 128, 0x1000);
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.record.frames[0].content, content);
	put(0x8000 + 128, HEAP + 0x200);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, content);
}

/* From 3.12 on a frame of another kind marks where a loop began. */
static void test_python_shim(void **state)
{
	const struct interp_record *record = &world.walk.record;
	struct python_layout layout;
	uint32_t i;

	(void)state;
	start(INTERP_PYTHON);
	assert_true(python_layout_find(12, &layout));
	world.process.python = layout.walk;
	context_words[7] = CONTEXT + 64;
	context_words[8] = HEAP + 0x4000;
	for (i = 0; i < 6; i++) {
		put(0x4000 - i * 0x100, HEAP + 0x8000);
		put(0x4000 - i * 0x100 + 8, i < 5 ? HEAP + 0x4000 - (i + 1) * 0x100 : 0);
		put(0x4000 - i * 0x100 + 56, HEAP + 0x8000 + 192 + 2 * i);
	}
	heap[0x4000 - 0x200 + 70] = 3;
	heap[0x4000 - 0x500 + 70] = 3;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(record->count, 4);
	assert_int_equal(record->frames[0].flags, 0);
	assert_int_equal(record->frames[1].flags, INTERP_FRAME_ENTRY);
	assert_int_equal(record->frames[2].flags, 0);
	assert_int_equal(record->frames[3].flags, INTERP_FRAME_ENTRY);
	assert_int_equal(record->frames[3].at, 8);
}

/* Positions of 3.9 count bytes, of 3.10 units; -1 is before the first instruction. */
static void check_position(unsigned int minor, uint32_t offset, uint32_t position,
			   uint64_t expected)
{
	struct python_layout layout;

	start(INTERP_PYTHON);
	assert_true(python_layout_find(minor, &layout));
	world.process.python = layout.walk;
	context_words[3] = HEAP + 0x4000;
	put(0x4000 + 32, HEAP + 0x8000);
	memcpy(heap + 0x4000 + offset, &position, sizeof(position));
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 1);
	assert_int_equal(world.walk.record.frames[0].at, expected);
	assert_int_equal(world.walk.record.frames[0].flags, INTERP_FRAME_ENTRY);
}

static void test_python_positions(void **state)
{
	(void)state;
	check_position(8, 104, 46, 46);
	check_position(9, 104, 46, 46);
	check_position(10, 96, 46, 92);
	check_position(9, 104, ~0u, ~0ull);
	check_position(10, 96, ~0u, ~0ull);
}

static void test_python_broken(void **state)
{
	const struct interp_code *copy;

	(void)state;
	make_python(3);
	put(0x4000 - 0x100 + 48, HEAP + 0x4000); /* a circle */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.end, INTERP_END_DEPTH);
	make_python(3);
	put(0x4000 - 0x100 + 48, 0x1230); /* nowhere */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 2);
	assert_int_equal(world.walk.record.end, INTERP_END_UNREADABLE);
	make_python(3);
	put(0x4000 - 0x100 + 48, HEAP + 0x3e01); /* not aligned */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 2);
	make_python(3);
	put(0x8000 + 112, 0); /* a code object without a name */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 3);
	copy = interp_world_copy(&world.walk.record.frames[0]);
	assert_int_equal(copy->parts[INTERP_PART_FILENAME].size, 0);
	make_python(2);
	put(0x4000 + 32, 0x5000); /* no code object at all */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, 0);
	make_python(2);
	context_words[9] = HEAP; /* frames at the very start of their memory */
	memcpy(heap, heap + 0x4000, 128);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 2);
}

/* A PHP string with its hash. */
static void put_php_text(uint32_t at, const char *text, uint64_t hash)
{
	put(at + PHP_STRING_HASH, hash);
	put(at + PHP_STRING_LENGTH, strlen(text));
	strcpy((char *)heap + at + PHP_STRING_BYTES, text);
}

/*
 * PHP: calls of 0x80 bytes at heap + 0x4000 downwards as callers go; call i is of function i, of 0x100 bytes at heap + 0x8000,
 * at line 10 + i. Every third one is an internal method, every fourth one of the others was called from outside.
 */
static void make_php(uint32_t count)
{
	uint32_t i;

	start(INTERP_PHP);
	world.process.anchor_kind = INTERP_ANCHOR_PROCESS;
	world.process.anchor = CONTEXT;
	world.process.php = (struct interp_php){ .current = 40, .filename = 152 };
	context_words[5] = HEAP + 0x4000;
	for (i = 0; i < count; i++) {
		uint32_t call = 0x4000 - i * 0x80, function = 0x8000 + i * 0x100;

		put(call + PHP_FRAME_OPLINE, HEAP + 0x7000 + i * 32);
		put(call + PHP_FRAME_FUNCTION, HEAP + function);
		put(call + PHP_FRAME_INFO, i % 4 ? 0 : PHP_CALL_TOP);
		put(call + PHP_FRAME_PREVIOUS, i + 1 < count ? HEAP + call - 0x80 : 0);
		put(0x7000 + i * 32 + PHP_OP_LINE, 10 + i);
		put(function, i % 3 == 1 ? PHP_INTERNAL_FUNCTION : PHP_USER_FUNCTION);
		put(function + PHP_FUNCTION_NAME, HEAP + 0x100);
		put(function + PHP_FUNCTION_SCOPE, i % 3 == 1 ? HEAP + 0x300 : 0);
		put(function + 152, i % 3 == 1 ? 0 : HEAP + 0x200);
	}
	put(0x300 + PHP_CLASS_NAME, HEAP + 0x400);
	put_php_text(0x100, "name", 111);
	put_php_text(0x200, "filename", 222);
	put_php_text(0x400, "Class", 333);
}

static void test_php(void **state)
{
	const struct interp_record *record = &world.walk.record;
	const struct interp_code *copy;
	uint32_t i;

	(void)state;
	make_php(20);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(record->kind, INTERP_PHP);
	assert_int_equal(record->count, 20);
	assert_int_equal(record->end, INTERP_END_ROOT);
	for (i = 0; i < 20; i++) {
		bool internal = i % 3 == 1, top = !internal && i % 4 == 0;

		assert_int_equal(record->frames[i].code, HEAP + 0x8000 + i * 0x100);
		assert_int_equal(record->frames[i].at,
				 internal ? 0 : 10 + i + ((uint64_t)top << 32));
		assert_int_equal(record->frames[i].flags, top ? INTERP_FRAME_ENTRY : 0);
		copy = interp_world_copy(&record->frames[i]);
		assert_non_null(copy);
		check_part(copy, INTERP_PART_NAME, PHP_STRING_BYTES, "name");
		if (internal)
			check_part(copy, INTERP_PART_CLASS_NAME, PHP_STRING_BYTES, "Class");
		else
			check_part(copy, INTERP_PART_FILENAME, PHP_STRING_BYTES, "filename");
		assert_int_equal(
			copy->parts[internal ? INTERP_PART_FILENAME : INTERP_PART_CLASS_NAME].size,
			0);
	}
	/* All functions of a kind have one content here. */
	assert_int_equal(world.code_count, 2);
}

/* Content of a function after a change of one word of memory; with 0 none. */
static uint64_t php_content(uint32_t change)
{
	make_php(2);
	put(change, change ? 0x4711 : 0);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 2);
	return world.walk.record.frames[0].content ^ world.walk.record.frames[1].content;
}

/* Hashes and lengths of the strings are the content, and nothing else is: what PHP writes into functions is not. */
static void test_php_content(void **state)
{
	static const uint32_t same[] = { 0x100 + 24, 0x8000 + 24, 0x8000 + 48, 0x300, 0x300 + 16 };
	static const uint32_t others[] = { 0x200 + 8, 0x200 + 16, 0x400 + 8, 0x400 + 16 };
	uint64_t content = php_content(0);
	size_t i;

	(void)state;
	assert_true(content);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_int_equal(php_content(same[i]), content);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_not_equal(php_content(others[i]), content);
}

/* Another function where one stood has another content at once: nothing is remembered by address. */
static void test_php_reuse(void **state)
{
	uint64_t content, hash;

	(void)state;
	make_php(1);
	world.process.memo = 1;
	walk(INTERP_FRAMES_MAX);
	content = world.walk.record.frames[0].content;
	hash = world.walk.hash;
	put_php_text(0x100, "other", 444);
	walk(INTERP_FRAMES_MAX);
	assert_int_not_equal(world.walk.record.frames[0].content, content);
	assert_int_not_equal(world.walk.hash, hash);
	put_php_text(0x100, "name", 111);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.hash, hash);
	put(0x7000 + PHP_OP_LINE, 99);
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, content);
	assert_int_not_equal(world.walk.hash, hash);
}

/* The interpreter is the first thread's; others have no frames. */
static void test_php_thread(void **state)
{
	(void)state;
	make_php(3);
	shim.pid_tgid = 42ull << 32 | 42;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 3);
	shim.pid_tgid = 42ull << 32 | 43;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 0);
	assert_int_equal(world.walk.hash, 0);
	/* Between requests there is no call. */
	make_php(3);
	context_words[5] = 0;
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 0);
	assert_int_equal(world.walk.record.end, INTERP_END_ROOT);
}

static void test_php_broken(void **state)
{
	(void)state;
	make_php(100);
	walk(20);
	assert_int_equal(world.walk.record.count, 20);
	assert_int_equal(world.walk.record.end, INTERP_END_DEPTH);
	make_php(3);
	put(0x4000 + PHP_FRAME_PREVIOUS, HEAP + 0x4000); /* a list without an end */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.end, INTERP_END_DEPTH);
	make_php(3);
	put(0x4000 + PHP_FRAME_PREVIOUS, 0x1230); /* nowhere */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 1);
	assert_int_equal(world.walk.record.end, INTERP_END_UNREADABLE);
	make_php(3);
	put(0x4000 + PHP_FRAME_PREVIOUS, HEAP + 0x3f84); /* not aligned */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 1);
	make_php(3);
	put(0x4000 + PHP_FRAME_FUNCTION, 0); /* only marks something */
	put(0x3f80 + PHP_FRAME_FUNCTION, 0x5000); /* no function at all */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 2);
	assert_int_equal(world.walk.record.frames[0].content, 0);
	make_php(2);
	put(0x8100 + PHP_FUNCTION_NAME, 0); /* an internal function without a name: a fiber's */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.count, 1);
	make_php(1);
	put(0x100 + PHP_STRING_HASH, 0); /* a hash that is not computed yet */
	walk(INTERP_FRAMES_MAX);
	assert_true(world.walk.record.frames[0].content);
	make_php(1);
	put(0x8000 + PHP_FUNCTION_NAME, 0x1230); /* a name nowhere */
	walk(INTERP_FRAMES_MAX);
	assert_int_equal(world.walk.record.frames[0].content, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ruby),
		cmocka_unit_test(test_ruby_native),
		cmocka_unit_test(test_ruby_deep),
		cmocka_unit_test(test_ruby_hash),
		cmocka_unit_test(test_ruby_broken),
		cmocka_unit_test(test_ruby_copy),
		cmocka_unit_test(test_anchors),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_python_reads),
		cmocka_unit_test(test_python_reuse),
		cmocka_unit_test(test_python_shim),
		cmocka_unit_test(test_python_positions),
		cmocka_unit_test(test_python_broken),
		cmocka_unit_test(test_ruby_content),
		cmocka_unit_test(test_ruby_end),
		cmocka_unit_test(test_python_content),
		cmocka_unit_test(test_python_long_lines),
		cmocka_unit_test(test_python_absent),
		cmocka_unit_test(test_php),
		cmocka_unit_test(test_php_content),
		cmocka_unit_test(test_php_reuse),
		cmocka_unit_test(test_php_thread),
		cmocka_unit_test(test_php_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
