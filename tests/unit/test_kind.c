/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of blocks, of a module that a test makes up. Truth: what was put there. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kinds/kind.h"
#include "kinds/kind_class.h"
#include "unit/fake_image.h"

#define CODE 0x400000ull
#define CONSTANTS 0x500000ull
#define DATA 0x600000ull
#define HEAP 0x700000ull
#define TYPEINFO (CONSTANTS + 0x100) /* of __class_type_info */
#define TYPE_VTABLE (CONSTANTS + 0x200)

static struct fake_image *fake;
static char path[] = "/usr/bin/prog";
static struct mapped_module module = { .name = path, .bias = 0x300000 };
static struct module_range items[] = {
	{ CODE, CODE + 0x1000, MODULE_CODE, 0 },
	{ CONSTANTS, CONSTANTS + 0x2000, MODULE_RELRO, 0 },
	{ DATA, DATA + 0x1000, MODULE_DATA, 0 },
};
static const struct module_ranges modules = {
	.modules = &module, .module_count = 1, .items = items, .count = 3
};
static struct kind_census *census;
static struct kind_shown shown = { .modules = &modules };
static struct memory_report report;

/* A class with its typeinfo, both at `at`; returns the vtable. */
static uint64_t put_class(uint64_t at, const char *mangled)
{
	fake_image_put(fake, at + 0x80, mangled, strlen(mangled) + 1);
	fake_image_put_word(fake, at + 0x40, TYPE_VTABLE);
	fake_image_put_word(fake, at + 0x48, at + 0x80);
	fake_image_put_word(fake, at + 8, at + 0x40);
	fake_image_put_word(fake, at + 16, CODE + 0x10);
	return at + 16;
}

static int set_up(void **state)
{
	(void)state;
	fake = fake_image_new();
	fake_image_map(fake, CODE, 0x1000, "/usr/bin/prog", FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(fake, CONSTANTS, 0x2000, "/usr/bin/prog", FAKE_FILE);
	fake_image_map(fake, DATA, 0x1000, "/usr/bin/prog", FAKE_FILE | FAKE_WRITABLE);
	fake_image_map(fake, HEAP, 0x10000, "[heap]", FAKE_WRITABLE);
	put_class(TYPEINFO - 0x40, "N10__cxxabiv117__class_type_infoE");
	fake_image_put_word(fake, TYPE_VTABLE - 8, TYPEINFO);
	shown.image = fake_image_open(fake);
	census = kind_census_new(shown.image, &modules);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	kind_census_free(census);
	memory_report_free(&report);
	report = (struct memory_report){ 0 };
	fake_image_free(fake);
	return 0;
}

static void see(const void *bytes, size_t length, uint64_t size)
{
	static uint64_t next = HEAP;
	struct census_block block = {
		.address = next, .size = size, .bytes = bytes, .length = length
	};

	next += 64;
	kind_census_sink(census).block(census, &block);
}

static void see_words(uint64_t first, uint64_t second, uint64_t third)
{
	uint64_t words[3] = { first, second, third };

	see(words, sizeof(words), 24);
}

static void assert_row(size_t i, const char *kind, const char *name, uint64_t size, uint64_t blocks)
{
	assert_true(i < report.kind_count);
	assert_string_equal(report.kinds[i].kind, kind);
	assert_string_equal(report.kinds[i].name, name);
	assert_int_equal(report.kinds[i].size, size);
	assert_int_equal(report.kinds[i].blocks, blocks);
}

static void test_classes(void **state)
{
	uint64_t request = put_class(CONSTANTS + 0x400, "N3app3ReqE");
	uint64_t plain = put_class(CONSTANTS + 0x500, "*4Item");
	uint64_t nameless = CONSTANTS + 0x610;

	(void)state;
	fake_image_put_word(fake, nameless, CODE + 0x20);
	fake_image_put_word(fake, nameless + 8, CODE + 0x30);
	see_words(request, 1, 2);
	see_words(request, 3, 4);
	see_words(request, 3, 4);
	see_words(plain, 0, 0);
	see_words(plain, 0, 0);
	see_words(nameless, 0, 0);
	kind_census_fill(census, &shown, &report);
	assert_int_equal(report.kind_count, 3);
	assert_row(0, "class", "app::Req", 24, 3);
	assert_row(1, "class", "Item", 24, 2);
	assert_row(2, "vtable", "prog+0x200610", 24, 1);
}

/* A table of pointers that looks like a vtable, but for one word of it. */
static void test_no_classes(void **state)
{
	uint64_t offset = put_class(CONSTANTS + 0x400, "1A"),
		 name = put_class(CONSTANTS + 0x500, "1\nB");
	uint64_t type = put_class(CONSTANTS + 0x600, "1C");

	(void)state;
	fake_image_put_word(fake, offset - 16, 8);
	fake_image_put_word(fake, type - 16 + 0x40, CONSTANTS + 0x700);
	see_words(offset, 0, 0);
	see_words(name, 0, 0);
	see_words(type, 0, 0);
	see_words(CONSTANTS + 1, 0, 0);
	see_words(CONSTANTS, 0, 0);
	kind_census_fill(census, &shown, &report);
	assert_int_equal(report.kind_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(report.kinds[i].kind, "static pointer");
}

static void test_contents(void **state)
{
	static const char text[16] = "a text";
	static const unsigned char noise[] = { 1, 200, 3,  4,  5,  6,  7,  250,
					       9, 10,  11, 12, 13, 14, 15, 200 };
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++)
		see(text, sizeof(text), 1000);
	for (i = 0; i < 5; i++)
		see_words(HEAP + 0x100, HEAP + 0x40, 17);
	for (i = 0; i < 4; i++)
		see_words(0, 0, 0);
	for (i = 0; i < 3; i++)
		see_words(7, 0x1234567812345678, CODE + 0x40);
	see_words(CODE + 0x40, 0, 0);
	see(noise, sizeof(noise), 16);
	see(NULL, 0, 8);
	/* Not a text, and no static that shows anything: the head of a list. */
	fake_image_put_word(fake, DATA + 0x40, HEAP);
	see_words(DATA + 0x40, HEAP + 0x6060, 0);
	see_words(HEAP + 0x6060, DATA + 0x40, 0);
	/* Nor is that of an empty one, as malloc's bins are: it points to itself, behind two words of the one before. */
	fake_image_put_word(fake, DATA + 0x90, DATA + 0x80);
	fake_image_put_word(fake, DATA + 0x98, DATA + 0x80);
	see_words(DATA + 0x80, DATA + 0x80, 0);
	kind_census_fill(census, &shown, &report);
	assert_int_equal(report.kind_count, 7);
	assert_row(0, "text", "", 0, 6);
	assert_row(1, "pointers", "", 24, 8);
	assert_row(2, "zeroes", "", 24, 4);
	assert_row(3, "struct with", "prog+0x100040 at +16", 24, 3);
	assert_row(4, "function pointer", "prog+0x100040", 24, 1);
	assert_row(5, "data", "", 16, 1);
	assert_row(6, "not in memory", "", 0, 1);
	assert_int_equal(report.remarks.length, 0);
}

/* Of very many blocks a sample: what it adds up to is near the truth, and marked. */
static void test_sample(void **state)
{
	uint64_t blocks = 0, i;

	(void)state;
	for (i = 0; i < 4000000; i++)
		see_words(i % 4 ? CODE + 0x40 : 0, 0, 0);
	kind_census_fill(census, &shown, &report);
	assert_int_equal(report.kind_count, 2);
	blocks = report.kinds[0].blocks + report.kinds[1].blocks;
	assert_in_range(blocks, 3960000, 4040000);
	assert_in_range(report.kinds[1].blocks, 990000, 1010000);
	assert_non_null(strstr(report.remarks.data, "sample"));
}

/* Of 100 kinds of known numbers some five may be outside of their interval, and the intervals are no wider than chance has it. */
static void test_sample_interval(void **state)
{
	const uint64_t each = 40000;
	size_t outside = 0;
	uint64_t i, off;

	(void)state;
	for (i = 0; i < 100 * each; i++)
		see_words(CODE + 0x40 + i % 100 * 8, 0, 0);
	kind_census_fill(census, &shown, &report);
	assert_int_equal(report.kind_count, 100);
	for (i = 0; i < 100; i++) {
		const struct memory_kind *kind = &report.kinds[i];

		off = kind->blocks > each ? kind->blocks - each : each - kind->blocks;
		outside += off > kind->blocks_error;
		assert_in_range(kind->blocks_error, 1, each / 50);
		assert_in_range(kind->bytes_error, kind->blocks_error * 24 - 24,
				kind->blocks_error * 24 + 24);
	}
	assert_in_range(outside, 0, 15);
}

static void see_at(struct kind_census *of, uint64_t address, uint64_t first, uint64_t second)
{
	uint64_t words[2] = { first, second };
	struct census_block block = {
		.address = address, .size = 16, .bytes = (unsigned char *)words, .length = 16
	};

	kind_census_sink(of).block(of, &block);
}

static struct kind_census *next_census(const struct kind_census *before)
{
	struct kind_census *next = kind_census_new(fake_image_open(fake), &modules);

	kind_census_keep(next, before);
	return next;
}

static void assert_changes(size_t i, uint64_t born, uint64_t gone, uint64_t unchanged,
			   uint64_t written, uint64_t retained)
{
	assert_int_equal(report.kinds[i].born, born);
	assert_int_equal(report.kinds[i].gone, gone);
	assert_int_equal(report.kinds[i].unchanged, unchanged);
	assert_int_equal(report.kinds[i].written, written);
	assert_int_equal(report.kinds[i].retained, retained);
}

#define A_FUNCTION (CODE + 0x40)
#define BYTES 0x1234567812345678ull

/* Blocks in no order of addresses, over three censuses. */
static void test_follow(void **state)
{
	struct kind_census *first = next_census(NULL), *second = next_census(first), *third;

	(void)state;
	see_at(first, HEAP + 0x300, A_FUNCTION, 1);
	see_at(first, HEAP + 0x100, A_FUNCTION, 1);
	see_at(first, HEAP + 0x200, A_FUNCTION, 1);
	see_at(first, HEAP + 0x400, 0, 0);
	kind_census_end(first);
	see_at(second, HEAP + 0x200, A_FUNCTION, 2); /* written to */
	see_at(second, HEAP + 0x500, A_FUNCTION, 1); /* born */
	see_at(second, HEAP + 0x100, A_FUNCTION, 1);
	see_at(second, HEAP + 0x400, A_FUNCTION, 1); /* of another kind: gone and born */
	kind_census_end(second);
	kind_census_follow(second, first);
	kind_census_fill(second, &shown, &report);
	assert_int_equal(report.kind_count, 2);
	assert_row(0, "function pointer", "prog+0x100040", 16, 4);
	assert_changes(0, 2, 1, 1, 1, HEAP_UNKNOWN);
	assert_row(1, "zeroes", "", 16, 0);
	assert_changes(1, 0, 1, 0, 0, HEAP_UNKNOWN);
	assert_int_equal(report.kinds[1].growth_bytes, -16);
	kind_census_free(first);
	memory_report_free(&report);
	third = next_census(second);
	see_at(third, HEAP + 0x100, A_FUNCTION, 1); /* there from the first census on */
	see_at(third, HEAP + 0x200, A_FUNCTION,
	       2); /* whether it is the one of the first is unknown */
	see_at(third, HEAP + 0x500, A_FUNCTION, 1); /* born after the first */
	see_at(third, HEAP + 0x600, A_FUNCTION, 1);
	kind_census_end(third);
	kind_census_follow(third, second);
	kind_census_free(second);
	kind_census_fill(third, &shown, &report);
	assert_int_equal(report.kind_count, 1);
	assert_changes(0, 1, 1, 3, 0, 1);
	assert_int_equal(report.kinds[0].growth_blocks, 0);
	kind_census_free(third);
}

/* Two samples of different sizes are compared in what both have: what is in both is not taken for new. */
static void test_follow_sample(void **state)
{
	struct kind_census *first = next_census(NULL), *second = next_census(first);
	uint64_t i;

	(void)state;
	for (i = 1800000; i--;)
		see_at(first, HEAP + i * 16, 7, BYTES);
	for (i = 0; i < 3600000; i++)
		see_at(second, HEAP + i * 16, 7, BYTES);
	kind_census_end(first);
	kind_census_end(second);
	kind_census_follow(second, first);
	kind_census_fill(second, &shown, &report);
	assert_int_equal(report.kind_count, 1);
	assert_int_equal(report.kinds[0].gone, 0);
	assert_in_range(report.kinds[0].born, 1750000, 1850000);
	assert_in_range(report.kinds[0].unchanged, 1750000, 1850000);
	kind_census_free(first);
	kind_census_free(second);
}

/* Bytes of a block that a walk has at hand. */
static size_t at_hand = SIZE_MAX;

static void put_block(struct kind_census *of, uint64_t address, const uint64_t *words, size_t count)
{
	struct census_block block = { .address = address,
				      .size = count * 8,
				      .bytes = (const unsigned char *)words,
				      .length = count * 8 < at_hand ? count * 8 : at_hand };

	fake_image_put(fake, address, words, count * 8);
	kind_census_sink(of).block(of, &block);
}

static const struct memory_kind *row_held(const char *kind, const char *holder)
{
	size_t i;

	for (i = 0; i < report.kind_count; i++)
		if (!strcmp(report.kinds[i].kind, kind) && !strcmp(report.kinds[i].holder, holder))
			return &report.kinds[i];
	fail_msg("no %s %s", kind, holder);
	return NULL;
}

/* An object holds a text; a list, whose head is a static, has blocks that nobody else holds; a cycle ends. */
static void check_holders(struct kind_census *held)
{
	uint64_t request = put_class(CONSTANTS + 0x400, "N3app3ReqE"), i;

	put_block(held, HEAP, (uint64_t[]){ request, 1, HEAP + 0x100 }, 3);
	put_block(held, HEAP + 0x100, (uint64_t[]){ 0x2074786574206120, 0x61 }, 2);
	for (i = 0; i < 10; i++)
		put_block(held, HEAP + 0x1000 + i * 64,
			  (uint64_t[]){ HEAP + 0x1000 + (i + 1) * 64, BYTES, HEAP + 0x2000 + i * 64,
					7 },
			  4);
	for (i = 0; i < 10; i++)
		put_block(held, HEAP + 0x2000 + i * 64,
			  (uint64_t[]){ 0x2074786574206220, 0x62, 0, 0, 0, 0, 0 }, 7);
	put_block(held, HEAP + 0x3000, (uint64_t[]){ 5, BYTES, BYTES, HEAP + 0x3100 }, 4);
	put_block(held, HEAP + 0x3100,
		  (uint64_t[]){ 5, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, HEAP + 0x3000 }, 8);
	/* Not where a block begins, and itself. */
	put_block(held, HEAP + 0x3200,
		  (uint64_t[]){ 5, BYTES, HEAP + 0x3208, HEAP + 0x3200, BYTES, BYTES }, 6);
	fake_image_put_word(fake, DATA + 0x40, HEAP + 0x1000);
	fake_image_put_word(fake, DATA + 0x80, HEAP + 0x3208);
	assert_true(kind_census_hold(held, &(struct thread_list){ 0 }, &(struct kind_roots){ 0 }));
	kind_census_end(held);
	kind_census_fill(held, &shown, &report);
	assert_int_equal(row_held("text", "< app::Req +16")->blocks, 1);
	assert_int_equal(row_held("linked", "< static prog+0x300040")->blocks, 10);
	assert_int_equal(row_held("text", "< [pointers 32 B] +16 < static prog+0x300040")->blocks,
			 10);
	assert_int_equal(
		row_held("data", "< [data 64 B] +56 < [data 32 B] +24 < [data 64 B] +56")->size,
		32);
	assert_int_equal(row_held("data", "")->size, 48);
	kind_census_free(held);
	memory_report_free(&report);
}

/* Blocks are read for it; or the walk has remembered their pointers, all or some of them, and there is less to read. */
static void test_holders(void **state)
{
	struct kind_census *held = next_census(NULL);
	size_t whole, rest;

	(void)state;
	check_holders(held);
	whole = fake->image->usage.bytes;
	held = next_census(NULL);
	kind_census_expect_holders(held, UINT64_MAX);
	fake->image->usage.bytes = 0;
	check_holders(held);
	rest = fake->image->usage.bytes;
	assert_true(rest < whole);
	at_hand = 16;
	held = next_census(NULL);
	kind_census_expect_holders(held, UINT64_MAX);
	fake->image->usage.bytes = 0;
	check_holders(held);
	at_hand = SIZE_MAX;
	assert_true(fake->image->usage.bytes > rest);
	/* More blocks than are worth it: all are read. */
	held = next_census(NULL);
	kind_census_expect_holders(held, 100);
	fake->image->usage.bytes = 0;
	check_holders(held);
	assert_int_equal(fake->image->usage.bytes, whole);
}

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{ "4Item", "Item" },
		{ "N3app3ReqE", "app::Req" },
		{ "St9exception", "std::exception" },
		{ "NSt6locale5facetE", "std::locale::facet" },
		{ "N12_GLOBAL__N_15LocalE", "(anonymous namespace)::Local" },
		{ "3BoxIiE", "\2"
			     "3BoxIiE\3" },
		{ "99Item", "\2"
			    "99Item\3" },
		{ "N3app3Req", "\2"
			       "N3app3Req\3" },
		{ "N3app3ReqEx", "\2"
				 "N3app3ReqEx\3" },
		{ "18446744073709551617A", "\2"
					   "18446744073709551617A\3" },
	};
	struct buffer out = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		buffer_clear(&out);
		kind_class_append_name(&out, names[i][0]);
		assert_string_equal(out.data, names[i][1]);
	}
	buffer_free(&out);
}

/* `count` blocks at `address` that begin with these words. */
static void put_copies(struct kind_census *of, uint64_t address, uint64_t first, uint64_t second,
		       size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		put_block(of, address + i * 64, (uint64_t[]){ first, second, BYTES }, 3);
}

/* Texts are compared to their ends; zeroes are no copies, nor are a few. Contents are shown where that is wanted only. */
static void test_copies(void **state)
{
	struct kind_census *of = next_census(NULL);
	uint64_t i;

	(void)state;
	put_copies(of, HEAP + 0x1000, 5, BYTES, 40);
	put_copies(of, HEAP + 0x3000, 6, BYTES, 15);
	for (i = 0; i < 20; i++)
		put_block(of, HEAP + 0x4000 + i * 64, (uint64_t[]){ 0x747865742061, i }, 2);
	for (i = 0; i < 30; i++)
		put_block(of, HEAP + 0x5000 + i * 64, (uint64_t[]){ 0, 0 }, 2);
	for (i = 0; i < 99; i++)
		put_block(of, HEAP + 0x6000 + i * 64, (uint64_t[]){ 7, BYTES + i }, 2);
	assert_true(kind_census_hold(of, &(struct thread_list){ 0 }, &(struct kind_roots){ 0 }));
	kind_census_end(of);
	kind_census_fill(of, &shown, &report);
	assert_int_equal(report.copy_count, 2);
	assert_string_equal(report.copies[0].kind, "data");
	assert_int_equal(report.copies[0].blocks, 40);
	assert_int_equal(report.copies[0].bytes, 40 * 24);
	assert_int_equal(report.copies[0].same_bytes, 24);
	assert_int_equal(report.copies[0].address, HEAP + 0x1000);
	assert_string_equal(report.copies[1].kind, "text");
	assert_int_equal(report.copies[1].blocks, 20);
	assert_int_equal(report.copies[1].address, HEAP + 0x4000);
	assert_string_equal(report.copies[1].sample, "");
	memory_report_free(&report);
	shown.samples = true;
	kind_census_fill(of, &shown, &report);
	shown.samples = false;
	assert_string_equal(report.copies[0].sample, "");
	assert_string_equal(report.copies[1].sample, "a text");
	assert_string_equal(row_held("text", "")->sample, "a text");
	kind_census_free(of);
}

/* Each block of a sample counts for as many as any: copies are as many as there are, within what chance does. */
static void test_sampled_copies(void **state)
{
	struct kind_census *of = next_census(NULL);
	uint64_t i;

	(void)state;
	for (i = 0; i < 3600000; i++)
		see_at(of, HEAP + i * 16, 7, i % 4 ? i << 40 | i : BYTES);
	kind_census_end(of);
	kind_census_fill(of, &shown, &report);
	assert_int_equal(report.copy_count, 1);
	assert_in_range(report.copies[0].blocks, 890000, 910000);
	kind_census_free(of);
}

/* A tree of `count` nodes at `address` below its head: a chain of left children, words in the order of libstdc++ or libc++. */
static void put_tree(struct kind_census *of, uint64_t head, uint64_t address, uint64_t count,
		     bool is_libcxx)
{
	uint64_t i, left, parent;

	for (i = 0; i < count; i++) {
		parent = i ? address + (i - 1) * 64 : head;
		left = i + 1 < count ? address + (i + 1) * 64 : 0;
		if (is_libcxx)
			put_block(of, address + i * 64, (uint64_t[]){ left, 0, parent, 0xab01, 9 },
				  5);
		else
			put_block(of, address + i * 64,
				  (uint64_t[]){ 0xabull << 32 | 1, parent, left, 0, 9, BYTES }, 6);
	}
}

/* Nodes are one row, with the holder of their root. What has their shape only is none. */
static void test_trees(void **state)
{
	struct kind_census *held = next_census(NULL);
	uint64_t i;

	(void)state;
	fake_image_put_word(fake, DATA + 0x48, HEAP + 0x1000);
	fake_image_put_word(fake, DATA + 0x80, HEAP + 0x4000);
	for (i = 0; i < 40; i++) {
		fake_image_put_word(fake, HEAP + 0x1008 + i * 64,
				    i ? HEAP + 0x1000 + (i - 1) * 64 : DATA + 0x40);
		fake_image_put_word(fake, HEAP + 0x1010 + i * 64,
				    i < 39 ? HEAP + 0x1000 + (i + 1) * 64 : 0);
		fake_image_put_word(fake, HEAP + 0x4000 + i * 64,
				    i < 39 ? HEAP + 0x4000 + (i + 1) * 64 : 0);
	}
	put_tree(held, DATA + 0x40, HEAP + 0x1000, 40, false);
	put_tree(held, DATA + 0x80, HEAP + 0x4000, 40, true);
	for (i = 0; i < 40; i++)
		put_block(held, HEAP + 0x6000 + i * 64,
			  (uint64_t[]){ 1, HEAP + 0x7000 + i * 64, 0, 0, 9, 9, 9 }, 7);
	assert_true(kind_census_hold(held, &(struct thread_list){ 0 }, &(struct kind_roots){ 0 }));
	kind_census_end(held);
	kind_census_fill(held, &shown, &report);
	assert_int_equal(row_held("tree node", "< static prog+0x300048")->blocks, 40);
	assert_int_equal(row_held("tree node", "< static prog+0x300080")->blocks, 40);
	for (i = 0; i < report.kind_count; i++)
		assert_true(strcmp(report.kinds[i].kind, "tree node") ||
			    report.kinds[i].blocks == 40);
	kind_census_free(held);
}

static struct kind_census *list_census(const struct kind_census *before, uint64_t count)
{
	struct kind_census *held = next_census(before);
	uint64_t i;

	for (i = 0; i < count; i++)
		put_block(held, HEAP + 0x1000 + i * 64,
			  (uint64_t[]){ i + 1 < count ? HEAP + 0x1000 + (i + 1) * 64 : 0, BYTES, i,
					7 },
			  4);
	assert_true(kind_census_hold(held, &(struct thread_list){ 0 }, &(struct kind_roots){ 0 }));
	kind_census_end(held);
	return held;
}

/* The head of a list leads to a node that is newer than the census: no holder is found. It is the same row as before, and has grown by what is new. */
static void test_follow_holder(void **state)
{
	struct kind_census *first, *second;

	(void)state;
	fake_image_put_word(fake, DATA + 0x40, HEAP + 0x1000);
	first = list_census(NULL, 10);
	fake_image_put_word(fake, DATA + 0x40, HEAP + 0x900);
	second = list_census(first, 12);
	kind_census_follow(second, first);
	kind_census_fill(second, &shown, &report);
	assert_int_equal(report.kind_count, 1);
	assert_int_equal(row_held("linked", "")->growth_blocks, 2);
	assert_int_equal(row_held("linked", "")->growth_bytes, 2 * 32);
	kind_census_free(first);
	kind_census_free(second);
}

/* Objects of a runtime hold a text, though another block does, too; a class is the better holder. */
static void test_roots(void **state)
{
	uint64_t request = put_class(CONSTANTS + 0x400, "N3app3ReqE");
	struct kind_census *held = next_census(NULL);
	struct kind_roots roots = { 0 };

	(void)state;
	put_block(held, HEAP, (uint64_t[]){ 0x747865742061, 7 }, 2);
	put_block(held, HEAP + 0x40, (uint64_t[]){ 0x747865742061, 8 }, 2);
	put_block(held, HEAP + 0x100, (uint64_t[]){ 5, BYTES, HEAP, BYTES }, 4);
	put_block(held, HEAP + 0x200, (uint64_t[]){ request, HEAP + 0x40 }, 2);
	fake_image_put_word(fake, HEAP + 0x8018, HEAP);
	fake_image_put_word(fake, HEAP + 0x9018, HEAP + 0x40);
	kind_roots_add(&roots, HEAP + 0x8000, HEAP + 0x9000, "Ruby heap page");
	kind_roots_add(&roots, HEAP + 0x9000, HEAP + 0xa000, "Python arena");
	assert_int_equal(kind_roots_bytes(&roots), 0x2000);
	assert_true(kind_census_hold(held, &(struct thread_list){ 0 }, &roots));
	kind_census_end(held);
	kind_census_fill(held, &shown, &report);
	assert_int_equal(row_held("text", "< Ruby heap page")->blocks, 1);
	assert_int_equal(row_held("text", "< app::Req +8")->blocks, 1);
	kind_roots_free(&roots);
	kind_census_free(held);
}

/* Pages of a runtime that are listed in another order than they lie in are read once, and not each with what is read ahead. */
static void test_roots_are_read_once(void **state)
{
	const uint64_t start = 0x800000, size = 0x4000, count = 256;
	struct kind_census *held = next_census(NULL);
	struct kind_roots roots = { 0 };
	uint64_t before, at, i;

	(void)state;
	fake_image_map(fake, start, count * size, "", FAKE_WRITABLE);
	assert_true(image_refresh(shown.image));
	put_block(held, HEAP, (uint64_t[]){ 0x747865742061, 7 }, 2);
	for (i = 0; i < count; i++) {
		at = start + i * 97 % count * size;
		kind_roots_add(&roots, at, at + size, "Ruby heap page");
	}
	kind_roots_sort(&roots);
	before = shown.image->usage.bytes;
	assert_true(kind_census_hold(held, &(struct thread_list){ 0 }, &roots));
	assert_in_range(shown.image->usage.bytes - before, count * size, 2 * count * size);
	kind_roots_free(&roots);
	kind_census_free(held);
}

/* Answers by what is asked: a type, a vtable, a variable that begins before the place, nothing for others. */
static void name_all(void *context, const struct module_ranges *ranges, struct kind_name *names,
		     size_t count)
{
	size_t *asked = context, i;

	assert_ptr_equal(ranges, &modules);
	for (i = 0; i < count; i++, ++*asked) {
		if (names[i].mangled && !strcmp(names[i].mangled, "3BoxIiE"))
			names[i].text = memory_copy_string("Box<int>");
		else if (names[i].mangled)
			continue;
		else if (names[i].address == 0x200610)
			names[i].text = memory_copy_string("vtable for app::Plain");
		else if (names[i].address == 0x300048)
			names[i].text = memory_copy_string("cache");
		names[i].into = names[i].address & 0xf;
	}
}

/* Each is asked for once; what has no name keeps its place. A vtable of a class without a type's name is the class. */
static void test_named(void **state)
{
	uint64_t box = put_class(CONSTANTS + 0x400, "3BoxIiE");
	uint64_t other = put_class(CONSTANTS + 0x500, "3BoxIcE");
	uint64_t plain = CONSTANTS + 0x610, i;
	struct kind_census *held = next_census(NULL);
	size_t asked = 0;
	const struct kind_namer namer = { name_all, &asked };

	(void)state;
	fake_image_put_word(fake, plain, CODE + 0x20);
	fake_image_put_word(fake, plain + 8, CODE + 0x30);
	for (i = 0; i < 3; i++)
		put_block(held, HEAP + i * 64, (uint64_t[]){ box, 1 }, 2);
	put_block(held, HEAP + 0x400, (uint64_t[]){ other, 1 }, 2);
	put_block(held, HEAP + 0x500, (uint64_t[]){ plain, HEAP + 0x600 }, 2);
	put_block(held, HEAP + 0x600, (uint64_t[]){ BYTES, CODE + 0x40 }, 2);
	fake_image_put(fake, DATA + 0x48, &(uint64_t){ HEAP }, 8);
	assert_true(kind_census_hold(held, &(struct thread_list){ 0 }, &(struct kind_roots){ 0 }));
	kind_census_end(held);
	shown.namer = &namer;
	kind_census_fill(held, &shown, &report);
	shown.namer = NULL;
	assert_string_equal(row_held("class", "< static cache+0x8 in prog+0x300048")->name,
			    "Box<int>");
	assert_int_equal(row_held("struct with", "< app::Plain +8")->blocks, 1);
	assert_string_equal(row_held("struct with", "< app::Plain +8")->name,
			    "prog+0x100040 at +8");
	assert_int_equal(asked, 5);
	for (i = 0; i < report.kind_count; i++)
		assert_null(strpbrk(report.kinds[i].name, "\1\2\3"));
	kind_census_free(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_classes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_contents, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sample_interval, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sample, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_follow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_follow_sample, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_follow_holder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_holders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_trees, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_roots_are_read_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_roots, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sampled_copies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_named, set_up, tear_down),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
