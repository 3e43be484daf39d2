/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects of Ruby, counted from outside. Truth: heaps laid out by hand as those of the releases are; the live tests have the interpreters
 * themselves.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ruby/ruby_pages.h"
#include "unit/ruby_world.h"

#define PAGES 6
#define SMALL_PAGE 0x4000 /* before 3.2 */

struct look {
	struct strings names;
	struct memory_runtime runtime;
	struct ruby_counts counts;
};

static const struct memory_class none;

static const struct memory_class *find_class(const struct look *look, const char *name)
{
	size_t i;

	for (i = 0; i < look->runtime.class_count; i++)
		if (!strcmp(look->runtime.classes[i].name, name))
			return &look->runtime.classes[i];
	return &none;
}

static struct look look_at(struct ruby_world *world)
{
	struct ruby_objects *objects = ruby_world_open(world);
	const struct ruby_objects_wanted wanted = { .classes = true };
	struct look look = { 0 };

	assert_non_null(objects);
	assert_int_equal(
		ruby_objects_census(objects, &wanted, &look.names, &look.runtime, &look.counts), 0);
	ruby_objects_free(objects);
	return look;
}

static void end_look(struct look *look)
{
	memory_runtime_free(&look->runtime);
	strings_free(&look->names);
}

/* By state: page 2 is swept, page 3 is not. */
static void fill(struct ruby_world *world, uint64_t session)
{
	uint64_t i;

	for (i = 0; i < 100; i++) {
		ruby_world_object(world, 2, i, RUBY_T_OBJECT | 1 << 13, session);
		ruby_world_object(world, 3, i, RUBY_T_OBJECT | 1 << 13, session);
		if (i < 10) {
			ruby_world_mark(world, 2, i);
			ruby_world_age(world, 2, i, 3);
			ruby_world_mark(world, 3, i);
		} else if (i < 30) {
			ruby_world_age(world, 2, i, 1 + i % 2);
		}
	}
	ruby_world_put(world, ruby_world_struct(3) + world->layout->page_flags,
		       ruby_world_get(world, ruby_world_struct(3) + world->layout->page_flags) |
			       1ull << 0);
}

static void check_states(const struct ruby_release *layout)
{
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	const struct memory_class *class;
	uint64_t session, alone;
	struct look look;

	session = ruby_world_class(world, 5, "App::Session", world->object);
	alone = ruby_world_class(world, 6, "", session);
	ruby_world_put(world, alone, RUBY_T_CLASS | layout->singleton);
	fill(world, session);
	ruby_world_object(world, 4, 7, RUBY_T_OBJECT | 1 << 13, alone);
	ruby_world_object(world, 4, 8, RUBY_T_MOVED, 0);
	look = look_at(world);
	class = find_class(&look, "App::Session");
	assert_int_equal(class->live, 10 + 20 + 10);
	assert_int_equal(class->old, 10);
	assert_int_equal(class->newborn, 70 + 1);
	assert_int_equal(class->garbage, 90);
	assert_int_equal(class->slot_bytes, (40 + 71) * 40);
	assert_int_equal(class->other_bytes, 0);
	assert_int_equal(find_class(&look, "Object")->live, 3); /* classes made by the test */
	assert_int_equal(look.counts.pages, PAGES);
	assert_int_equal(look.counts.lost_pages, 0);
	assert_int_equal(look.counts.slots, PAGES * WORLD_SLOTS);
	assert_int_equal(look.counts.types[RUBY_T_OBJECT], 201);
	assert_int_equal(look.counts.types[RUBY_T_CLASS], 3);
	assert_int_equal(look.counts.types[RUBY_T_STRING], 3);
	assert_int_equal(look.counts.free_slots, PAGES * WORLD_SLOTS - 207);
	/* Page 5 is empty, pages 0, 1 and 4 hold at most 3 of 200. */
	assert_int_equal(look.runtime.sparse_pages, 4);
	assert_int_equal(look.runtime.page_bytes, (uint64_t)PAGES * layout->page_size);
	end_look(&look);
	ruby_world_free(world);
}

static void test_states_and_names_in_all_versions(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++)
		check_states(ruby_release_with_heap(i));
}

static void test_other_layouts_are_refused(void **state)
{
	struct ruby_world *world;
	struct ruby_heap heap;
	size_t i, j;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		world = ruby_world_new(ruby_release_with_heap(i), PAGES);
		for (j = 0; ruby_release_with_heap(j); j++) {
			int code = ruby_world_find(world, ruby_release_with_heap(j), &heap);

			assert_int_equal(!code, i == j);
			if (!code)
				ruby_heap_free(&heap);
		}
		ruby_world_free(world);
	}
}

/* Of any version, its pages are known by their form, and nothing else. */
static void test_pages_by_their_form(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PAGES);
		uint64_t size = world->layout->page_size, page;
		struct claims *claims = claims_new();

		/* A head that leads into the page itself, and one whose struct does not lead back. */
		ruby_world_put(world, WORLD_PAGES + PAGES * size,
			       WORLD_PAGES + PAGES * size + 0x100);
		ruby_world_put(world, WORLD_PAGES + PAGES * size + 0x100,
			       WORLD_PAGES + PAGES * size + 0x80);
		ruby_world_put(world, WORLD_PAGES + (PAGES + 1) * size, ruby_world_struct(0));
		/* One that looks like a small page, in a large one. */
		if (size > SMALL_PAGE) {
			ruby_world_put(world, WORLD_PAGES + SMALL_PAGE, ruby_world_struct(PAGES));
			ruby_world_put(world, ruby_world_struct(PAGES) + 8,
				       WORLD_PAGES + SMALL_PAGE + WORLD_START);
		}
		assert_int_equal(ruby_pages_claim(fake_image_open(world->fake), claims), PAGES);
		for (page = 0; page < PAGES; page++)
			assert_int_equal(
				claims_find(claims, WORLD_PAGES + page * size + size - 1, NULL),
				PURPOSE_RUBY_HEAP);
		assert_int_equal(claims_find(claims, WORLD_PAGES + PAGES * size, NULL),
				 PURPOSE_UNKNOWN);
		claims_free(claims);
		ruby_world_free(world);
	}
}

static void test_counters_of_the_collector(void **state)
{
	struct ruby_world *world = ruby_world_new(ruby_release_find("3.4.1"), PAGES);
	struct look look;

	(void)state;
	ruby_world_put(world, WORLD_SPACE + 952, 41);
	ruby_world_put(world, WORLD_SPACE + 960, 7);
	ruby_world_put(world, WORLD_SPACE + 1016, 1000000);
	ruby_world_put(world, WORLD_SPACE + 1040, 500000);
	look = look_at(world);
	assert_int_equal(look.runtime.minor_gcs, 41);
	assert_int_equal(look.runtime.major_gcs, 7);
	assert_int_equal(look.runtime.gc_ns, 1500000);
	assert_false(look.runtime.after_major);
	/* Nor was one waited for. */
	assert_true(!look.runtime.remarks.data ||
		    !strstr(look.runtime.remarks.data, "within the wait"));
	end_look(&look);
	ruby_world_free(world);
}

static void test_what_is_not_in_memory_is_counted_as_missing(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.3.0");
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	uint64_t page = WORLD_PAGES + 3ull * layout->page_size;
	struct look look;

	(void)state;
	fill(world, world->object);
	fake_image_swapped(world->fake, page + 4096, 4096);
	look = look_at(world);
	/* The slots from 4080 to 8080: any byte on the second 4 KB is enough. */
	assert_int_equal(look.counts.missing_slots, 100);
	assert_non_null(strstr(look.runtime.remarks.data, "not in memory"));
	end_look(&look);
	fake_image_swapped(world->fake, page, 4096);
	look = look_at(world);
	assert_int_equal(look.counts.lost_pages, 1);
	assert_int_equal(look.counts.pages, PAGES - 1);
	end_look(&look);
	ruby_world_free(world);
}

static void test_a_list_that_changes_has_doubles(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.1.0");
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	struct look look;

	(void)state;
	fill(world, world->object);
	ruby_world_put(world, WORLD_SPACE + layout->page_count, PAGES + 3);
	ruby_world_put(world, WORLD_LIST + PAGES * 8, ruby_world_struct(PAGES - 1));
	ruby_world_put(world, WORLD_LIST + (PAGES + 1) * 8, 0);
	ruby_world_put(world, WORLD_LIST + (PAGES + 2) * 8, ruby_world_struct(PAGES - 1) + 3);
	look = look_at(world);
	assert_int_equal(look.counts.pages, PAGES);
	assert_int_equal(look.counts.lost_pages, 0);
	end_look(&look);
	ruby_world_free(world);
}

/* While it was waited for a collection, the program has mapped more. */
static void test_mappings_are_as_of_after_the_wait(void **state)
{
	struct ruby_world *world = ruby_world_new(ruby_release_find("3.1.0"), PAGES);
	struct ruby_objects *objects = ruby_world_open(world);
	const struct ruby_objects_wanted wanted = { .classes = true, .wait_ns = 1 };
	const uint64_t later = 1ull << 40;
	struct look look = { 0 };

	(void)state;
	fake_image_map(world->fake, later, FAKE_PAGE, "", FAKE_WRITABLE);
	assert_null(image_find(world->fake->image, later));
	assert_int_equal(
		ruby_objects_census(objects, &wanted, &look.names, &look.runtime, &look.counts), 0);
	assert_non_null(image_find(world->fake->image, later));
	/* None came. */
	assert_false(look.runtime.after_major);
	assert_non_null(strstr(look.runtime.remarks.data, "no major collection came"));
	end_look(&look);
	ruby_objects_free(objects);
	ruby_world_free(world);
}

/* A page is in a mapping that the program has made since the mappings were listed. */
static void test_pages_of_new_mappings_are_not_lost(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.1.0");
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	struct ruby_objects *objects = ruby_world_open(world);
	const struct ruby_objects_wanted wanted = { .classes = true };
	struct look look = { 0 };

	(void)state;
	world->fake->image->mappings[0].end = WORLD_PAGES + (PAGES - 1) * layout->page_size;
	assert_int_equal(
		ruby_objects_census(objects, &wanted, &look.names, &look.runtime, &look.counts), 0);
	assert_int_equal(look.counts.pages, PAGES);
	assert_int_equal(look.counts.lost_pages, 0);
	end_look(&look);
	ruby_objects_free(objects);
	ruby_world_free(world);
}

/* So may the list of pages be, which moves as it grows. */
static void test_list_in_a_new_mapping(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.1.0");
	const struct ruby_exports exports = { WORLD_GLOBALS, WORLD_GLOBALS + 8 };
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	struct image *image = fake_image_open(world->fake);
	const uint64_t later = 1ull << 40;
	struct ruby_heap heap;
	uint64_t i;

	(void)state;
	fake_image_map(world->fake, later, FAKE_PAGE, "", FAKE_WRITABLE);
	for (i = 0; i < PAGES; i++)
		ruby_world_put(world, later + i * 8, ruby_world_get(world, WORLD_LIST + i * 8));
	ruby_world_put(world, WORLD_SPACE + layout->pages, later);
	assert_null(image_find(image, later));
	assert_int_equal(ruby_heap_find_as(image, layout, &exports, &heap, NULL), 0);
	assert_int_equal(heap.page_count, PAGES);
	ruby_heap_free(&heap);
	ruby_world_free(world);
}

/* While blocks are walked, the program goes on: a collection ends, the next one marks, a page is added. */
static bool walk_while_it_runs(void *context, const struct census_sink *sink)
{
	struct ruby_world *world = context;
	const struct census_block block = { .address = WORLD_MALLOC, .size = 64 };
	const uint64_t mode = WORLD_SPACE + world->layout->mode;

	ruby_world_put(world, WORLD_SPACE + world->layout->major_gcs, 8);
	ruby_world_put(world, mode, ruby_world_get(world, mode) | 1);
	world->page_count++;
	ruby_world_page(world, world->page_count - 1);
	ruby_world_list(world);
	return sink->block(sink->context, &block);
}

static void test_objects_are_as_of_after_the_walk_of_blocks(void **state)
{
	struct ruby_world *world = ruby_world_new(ruby_release_find("3.1.0"), PAGES);
	struct ruby_objects *objects = ruby_world_open(world);
	const struct ruby_objects_wanted wanted = { .classes = true,
						    .walk_blocks = walk_while_it_runs,
						    .walk_context = world,
						    .max_bytes = 1 << 20 };
	struct look look = { 0 };

	(void)state;
	assert_int_equal(
		ruby_objects_census(objects, &wanted, &look.names, &look.runtime, &look.counts), 0);
	assert_int_equal(look.runtime.major_gcs, 8);
	assert_false(look.runtime.after_major);
	assert_int_equal(look.counts.pages, PAGES + 1);
	assert_true(look.counts.marking);
	assert_non_null(strstr(look.runtime.remarks.data, "a collection was marking"));
	end_look(&look);
	ruby_objects_free(objects);
	ruby_world_free(world);
}

static void test_huge_counts_are_refused(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.1.0");
	static const uint64_t counts[] = { 0, 1ull << 63, UINT64_MAX, 1ull << 24, 1ull << 40 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct ruby_world *world = ruby_world_new(layout, PAGES);

		ruby_world_put(world, WORLD_SPACE + layout->page_count, counts[i]);
		assert_null(ruby_world_open(world));
		ruby_world_free(world);
	}
}

static void test_pages_that_make_no_sense_are_lost(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.1.0");
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	struct look look;

	(void)state;
	ruby_world_put_short(world, ruby_world_struct(1) + layout->slot_size, 0);
	ruby_world_put_short(world, ruby_world_struct(2) + layout->total_slots, 65535);
	ruby_world_put_short(world, ruby_world_struct(3) + layout->slot_size, 41);
	ruby_world_put(world, WORLD_PAGES + 4ull * layout->page_size, ruby_world_struct(2));
	look = look_at(world);
	assert_int_equal(look.counts.lost_pages, 4);
	assert_int_equal(look.counts.pages, PAGES - 4);
	assert_non_null(strstr(look.runtime.remarks.data, "4 pages"));
	end_look(&look);
	ruby_world_free(world);
}

/* Classes of one object that are each other's super class, a table that has itself as entries. */
static void test_circles_end(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		const struct ruby_release *layout = ruby_release_with_heap(i);
		struct ruby_world *world = ruby_world_new(layout, PAGES);
		uint64_t a = ruby_world_class(world, 5, "A", 0);
		uint64_t b = ruby_world_class(world, 6, "B", a);
		struct look look;

		ruby_world_put(world, a + 16, b);
		ruby_world_put(world, a, RUBY_T_CLASS | layout->singleton);
		ruby_world_put(world, b, RUBY_T_ICLASS);
		ruby_world_object(world, 3, 0, RUBY_T_OBJECT, a);
		look = look_at(world);
		assert_int_equal(find_class(&look, "(class without a name)")->newborn, 1);
		end_look(&look);
		ruby_world_free(world);
	}
}

static void test_bytes_beyond_the_slot(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.1.0");
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	const uint64_t pairs[10][2] = { { 1, 1 } };
	uint64_t hash, string, array, class, data;
	struct look look;

	(void)state;
	class = ruby_world_class(world, 5, "S", world->object);
	string = ruby_world_string(world, 2, 0, "twenty bytes of text");
	ruby_world_put(world, string + 8, class);
	string = ruby_world_string(world, 2, 1, "shared");
	ruby_world_put(world, string, RUBY_T_STRING | 1 << 13 | 1 << 14);
	ruby_world_put(world, string + 8, class);
	string = ruby_world_string(world, 2, 2, "torn");
	ruby_world_put(world, string + 8, class);
	ruby_world_put(world, string + 32, 1ull << 63);
	look = look_at(world);
	assert_int_equal(find_class(&look, "S")->other_bytes, 21 + 1);
	end_look(&look);
	class = ruby_world_class(world, 6, "H", world->object);
	hash = ruby_world_object(world, 2, 3, RUBY_T_HASH | 1 << 15, class);
	ruby_world_put(world, hash + 16, ruby_world_table(world, 0, pairs, 10));
	hash = ruby_world_object(world, 2, 4, RUBY_T_HASH, class);
	ruby_world_put(world, hash + 16, ruby_world_alloc(world, 128));
	class = ruby_world_class(world, 7, "A", world->object);
	array = ruby_world_object(world, 2, 5, RUBY_T_ARRAY, class);
	ruby_world_put(world, array + 24, 100);
	array = ruby_world_object(world, 2, 6, RUBY_T_ARRAY, class);
	ruby_world_put(world, array + 24, UINT64_MAX / 8 + 2);
	class = ruby_world_class(world, 8, "D", world->object);
	data = ruby_world_object(world, 2, 7, RUBY_T_DATA, class);
	ruby_world_put(world, data + 24, 1);
	ruby_world_put(world, data + 32, ruby_world_alloc(world, 1000));
	data = ruby_world_object(world, 2, 8, RUBY_T_DATA, class);
	ruby_world_put(world, data + 24, 1);
	ruby_world_put(world, data + 32, 0xdead0000dead0000);
	look = look_at(world);
	assert_int_equal(find_class(&look, "H")->other_bytes, 56 + 16 * 24 + 128);
	assert_int_equal(find_class(&look, "A")->other_bytes, 800);
	assert_int_equal(find_class(&look, "D")->other_bytes, 1000);
	end_look(&look);
	ruby_world_free(world);
}

/* Code of two files, one of which is an array of two paths; one that is damaged is of no file. */
static void put_code(struct ruby_world *world)
{
	static const char *const paths[] = { "/app/a.rb", "/app/b.rb" };
	const uint64_t places[] = { 0, 1, 1, 2 };
	uint64_t strings[3], body, i;

	for (i = 0; i < 2; i++)
		strings[i] = ruby_world_string(world, 4, 20 + i, paths[i]);
	strings[2] = ruby_world_object(world, 4, 23, RUBY_T_ARRAY | 1 << 13 | 2 << 15, 0);
	ruby_world_put(world, strings[2] + 16, strings[1]);
	for (i = 0; i < 4; i++) {
		body = ruby_world_alloc(world, 320);
		ruby_world_put(world, body, 100ull << 32);
		ruby_world_put(world, body + 64, strings[places[i]]);
		ruby_world_put(world,
			       ruby_world_object(world, 4, 30 + i, RUBY_T_IMEMO | 7 << 12, 0) + 16,
			       body);
	}
	ruby_world_put(world, ruby_world_object(world, 4, 40, RUBY_T_IMEMO | 7 << 12, 0) + 16,
		       WORLD_END);
}

static void test_code_by_file(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; ruby_release_with_heap(i); i++) {
		struct ruby_world *world = ruby_world_new(ruby_release_with_heap(i), PAGES);
		struct look look;

		put_code(world);
		look = look_at(world);
		assert_int_equal(look.runtime.file_count, 2);
		assert_string_equal(look.runtime.files[0].name, "/app/b.rb");
		assert_int_equal(look.runtime.files[0].live, 3);
		assert_int_equal(look.runtime.files[1].other_bytes, world->layout->code_size + 800);
		end_look(&look);
		ruby_world_free(world);
	}
}

static void check_longest(const struct look *look, size_t index, const char *kind, uint64_t length,
			  uint64_t bytes)
{
	assert_true(index < look->runtime.longest_count);
	assert_string_equal(look->runtime.longest[index].kind, kind);
	assert_int_equal(look->runtime.longest[index].length, length);
	assert_int_equal(look->runtime.longest[index].bytes, bytes);
	assert_null(look->runtime.longest[index].sample);
}

#define TRANSIENT 0x7e0000008000ull
#define TRANSIENT_STRUCT (WORLD_GLOBALS + 0x80)

static uint64_t find_transient(struct ruby_world *world)
{
	struct ruby_objects *objects = ruby_world_open(world);
	uint64_t found = ruby_objects_transient(objects);

	ruby_objects_free(objects);
	return found;
}

/* Its description in static data, of which each word counts. */
static void test_transient_heap(void **state)
{
	static const struct {
		uint64_t offset, damage;
	} damages[] = { { 0, TRANSIENT + 16 },
			{ 8, 4096 },
			{ 16, TRANSIENT - (32u << 10) },
			{ 32, 41 },
			{ 32, 0 },
			{ 36, 3 },
			{ 52, 5000 },
			{ 56, TRANSIENT + 4096 },
			{ 56, WORLD_MALLOC },
			{ 56, UINT64_MAX << 15 },
			{ 64, 1025 } };
	struct ruby_world *world = ruby_world_new(ruby_release_find("3.1.0"), PAGES);
	uint64_t kept;
	size_t i;

	(void)state;
	fake_image_map(world->fake, TRANSIENT, 32u << 20, "", FAKE_WRITABLE);
	assert_int_equal(find_transient(world), 0);
	ruby_world_put(world, TRANSIENT_STRUCT, TRANSIENT + (32u << 10));
	ruby_world_put(world, TRANSIENT_STRUCT + 16, TRANSIENT);
	ruby_world_put(world, TRANSIENT_STRUCT + 24, 500);
	ruby_world_put(world, TRANSIENT_STRUCT + 32, 40);
	ruby_world_put(world, TRANSIENT_STRUCT + 48, 1024 | 17ull << 32);
	ruby_world_put(world, TRANSIENT_STRUCT + 56, TRANSIENT);
	ruby_world_put(world, TRANSIENT_STRUCT + 64, 40);
	assert_int_equal(find_transient(world), TRANSIENT);
	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		uint64_t at = TRANSIENT_STRUCT + damages[i].offset;

		kept = ruby_world_get(world, at & ~7ull);
		if (damages[i].offset & 4)
			ruby_world_put(world, at & ~7ull,
				       (kept & UINT32_MAX) | damages[i].damage << 32);
		else
			ruby_world_put(world, at, damages[i].damage);
		assert_int_equal(find_transient(world), 0);
		ruby_world_put(world, at & ~7ull, kept);
	}
	ruby_world_free(world);
}

static void test_longest(void **state)
{
	struct ruby_world *world = ruby_world_new(ruby_release_find("3.1.0"), PAGES);
	uint64_t pairs[200][2] = { { 1, 1 } }, object, i;
	struct look look;

	(void)state;
	for (i = 0; i < 5; i++) {
		object = ruby_world_object(world, 2, i, RUBY_T_ARRAY, world->object);
		ruby_world_put(world, object + 16, 1000 + i * 37 % 5);
		ruby_world_put(world, object + 24, 2000);
		object =
			ruby_world_object(world, 2, 10 + i, RUBY_T_STRING | 1 << 13, world->object);
		ruby_world_put(world, object + 16, i < 2 ? 5000 + i : 10);
		ruby_world_put(world, object + 32, 5100);
	}
	/* What another one has is not its own. */
	ruby_world_put(world, object, RUBY_T_STRING | 1 << 13 | 1 << 14);
	ruby_world_put(world, object + 16, 1 << 20);
	object = ruby_world_object(world, 2, 20, RUBY_T_HASH | 1 << 15, world->object);
	ruby_world_put(world, object + 16,
		       ruby_world_table(world, 0, (const uint64_t(*)[2])pairs, 200));
	look = look_at(world);
	check_longest(&look, 0, "String", 5001, 5101);
	check_longest(&look, 1, "String", 5000, 5101);
	check_longest(&look, 3, "Array", 1004, 16000);
	check_longest(&look, 5, "Array", 1002, 16000);
	check_longest(&look, 6, "Hash", 200, 56 + 256 * 24);
	assert_int_equal(look.runtime.longest_count, 7);
	end_look(&look);
	ruby_world_free(world);
}

/* What a census finds of one class, with what is kept of those before. */
static struct memory_class take_census(struct ruby_world *world, struct ruby_keep *keep)
{
	const struct ruby_objects_wanted wanted = { .classes = true, .keep = keep };
	struct ruby_objects *objects = ruby_world_open(world);
	struct memory_class class;
	struct look look = { 0 };

	assert_int_equal(ruby_objects_census(objects, &wanted, &look.names, &look.runtime, NULL),
			 0);
	class = *find_class(&look, "S");
	ruby_objects_free(objects);
	end_look(&look);
	return class;
}

static void test_what_is_born_and_stays_is_retained(void **state)
{
	const struct ruby_release *layout = ruby_release_find("3.3.0");
	struct ruby_world *world = ruby_world_new(layout, PAGES);
	struct ruby_keep *keep = ruby_keep_new();
	uint64_t class = ruby_world_class(world, 5, "S", world->object), i;

	(void)state;
	/* 0..9: there from the beginning; 10..14: born later; 15..19: others each time. */
	for (i = 0; i < 10; i++)
		ruby_world_mark(world, 2, i);
	for (i = 0; i < 10; i++)
		ruby_world_put(world, ruby_world_object(world, 2, i, RUBY_T_OBJECT, class) + 24, i);
	assert_int_equal(take_census(world, keep).retained, 0);
	for (i = 10; i < 20; i++) {
		ruby_world_mark(world, 2, i);
		ruby_world_put(world, ruby_world_object(world, 2, i, RUBY_T_OBJECT, class) + 24, i);
	}
	assert_int_equal(take_census(world, keep).retained, 0);
	assert_false(ruby_keep_has(keep, ruby_world_slot(world, 2, 12)));
	for (i = 15; i < 20; i++)
		ruby_world_put(world, ruby_world_slot(world, 2, i) + 24, i + 100);
	assert_int_equal(take_census(world, keep).retained, 5);
	assert_true(ruby_keep_has(keep, ruby_world_slot(world, 2, 12)));
	assert_false(ruby_keep_has(keep, ruby_world_slot(world, 2, 12) + 8));
	assert_false(ruby_keep_has(keep, ruby_world_slot(world, 2, 3)));
	assert_false(ruby_keep_has(keep, WORLD_MALLOC));
	for (i = 15; i < 20; i++)
		ruby_world_put(world, ruby_world_slot(world, 2, i) + 24, i + 200);
	ruby_world_object(world, 2, 10, 0, 0);
	assert_int_equal(take_census(world, keep).retained, 4);
	ruby_keep_free(keep);
	ruby_world_free(world);
}

/* Every word of the structures, damaged in several ways: an answer or a refusal, and an end. */
static void test_damaged_words(void **state)
{
	static const uint64_t damages[] = { 0, UINT64_MAX, 1ull << 63, WORLD_STRUCTS + 8, 1 };
	const struct ruby_release *layout = ruby_release_find("3.1.0");
	struct ruby_world *world = ruby_world_new(layout, 3);
	uint64_t at, kept;
	size_t i;

	(void)state;
	for (at = 0; at < 0x600; at += 8)
		for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
			uint64_t address = at < 0x200	? WORLD_SPACE + at
					   : at < 0x300 ? WORLD_LIST + at - 0x200
					   : at < 0x500 ? ruby_world_struct(0) + at - 0x300
							: ruby_world_slot(world, 0, 0) + at - 0x500;
			struct ruby_objects *objects;

			kept = ruby_world_get(world, address);
			ruby_world_put(world, address, damages[i]);
			objects = ruby_world_open(world);
			if (objects) {
				ruby_objects_free(objects);
				struct look look = look_at(world);

				end_look(&look);
			}
			ruby_world_put(world, address, kept);
		}
	ruby_world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_and_names_in_all_versions),
		cmocka_unit_test(test_other_layouts_are_refused),
		cmocka_unit_test(test_pages_by_their_form),
		cmocka_unit_test(test_counters_of_the_collector),
		cmocka_unit_test(test_what_is_not_in_memory_is_counted_as_missing),
		cmocka_unit_test(test_a_list_that_changes_has_doubles),
		cmocka_unit_test(test_mappings_are_as_of_after_the_wait),
		cmocka_unit_test(test_pages_of_new_mappings_are_not_lost),
		cmocka_unit_test(test_list_in_a_new_mapping),
		cmocka_unit_test(test_objects_are_as_of_after_the_walk_of_blocks),
		cmocka_unit_test(test_huge_counts_are_refused),
		cmocka_unit_test(test_pages_that_make_no_sense_are_lost),
		cmocka_unit_test(test_circles_end),
		cmocka_unit_test(test_bytes_beyond_the_slot),
		cmocka_unit_test(test_code_by_file),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_transient_heap),
		cmocka_unit_test(test_what_is_born_and_stays_is_retained),
		cmocka_unit_test(test_damaged_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
