/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frames are those of a process that ends since main() has returned. Truth: the code and the stacks of glibc 2.36 and musl 1.2 at _exit(),
 * as gdb shows them, and such stacks with frames of the program between them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reach/reach_ending.h"
#include "unit/fake_image.h"

#define LIBRARY 0x7f0000000000ull
#define PROGRAM 0x555555550000ull
#define STACK 0x7ffff0000000ull
#define POINTER (STACK + 0x2000)

/* Functions, and the addresses behind their calls. */
#define UNDERSCORE_EXIT (LIBRARY + 0x1000)
#define HANDLERS (LIBRARY + 0x1100)
#define IN_HANDLERS (HANDLERS + 0xc0)
#define EXIT (LIBRARY + 0x1300)
#define IN_EXIT (EXIT + 0x1a)
#define START (LIBRARY + 0x1400)
#define IN_START (START + 0x81)
#define ERROR (LIBRARY + 0x1600) /* calls exit() with a number */
#define IN_ERROR (ERROR + 0x10)
#define IN_MAIN (PROGRAM + 0x110)

struct world {
	struct fake_image *fake;
	struct mapped_module files[2];
	struct module_range ranges[2];
	struct module_ranges modules;
};

static void put_call(struct world *world, uint64_t behind, uint64_t target)
{
	unsigned char code[5] = { 0xe8 };
	const int32_t distance = (int32_t)(target - behind);

	memcpy(code + 1, &distance, sizeof(distance));
	fake_image_put(world->fake, behind - sizeof(code), code, sizeof(code));
}

static int open_world(void **state)
{
	static const unsigned char result[] = { 0xff, 0xd0, 0x89, 0xc7 };
	struct world *world = memory_alloc(1, sizeof(*world));

	world->fake = fake_image_new();
	fake_image_map(world->fake, PROGRAM, 0x2000, "/app", FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(world->fake, LIBRARY, 0x2000, "/lib/libc.so.6", FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(world->fake, STACK, 0x4000, "[stack]", FAKE_WRITABLE);
	world->files[0].name = memory_copy_string("/app");
	world->files[1].name = memory_copy_string("/lib/libc.so.6");
	world->ranges[0] = (struct module_range){ PROGRAM, PROGRAM + 0x2000, MODULE_CODE, 0 };
	world->ranges[1] = (struct module_range){ LIBRARY, LIBRARY + 0x2000, MODULE_CODE, 1 };
	world->modules = (struct module_ranges){
		.modules = world->files, .module_count = 2, .items = world->ranges, .count = 2
	};
	put_call(world, IN_HANDLERS, UNDERSCORE_EXIT);
	put_call(world, IN_EXIT, HANDLERS);
	put_call(world, IN_START, EXIT);
	fake_image_put(world->fake, IN_START - 9, result, sizeof(result));
	put_call(world, IN_ERROR, EXIT);
	put_call(world, IN_MAIN, EXIT);
	*state = world;
	return 0;
}

static int close_world(void **state)
{
	struct world *world = *state;

	fake_image_free(world->fake);
	free(world->files[0].name);
	free(world->files[1].name);
	free(world);
	return 0;
}

static void push(struct world *world, uint64_t offset, uint64_t word)
{
	fake_image_put_word(world->fake, POINTER + offset, word);
}

static uint64_t frames(struct world *world)
{
	return reach_ending_frames(fake_image_open(world->fake), &world->modules, POINTER);
}

/* _exit < __run_exit_handlers < exit < __libc_start_call_main. */
static void push_return(struct world *world)
{
	push(world, 0, IN_HANDLERS);
	push(world, 0x70, IN_EXIT);
	push(world, 0x80, IN_START);
}

static void test_main_has_returned(void **state)
{
	struct world *world = *state;

	assert_int_equal(frames(world), 0);
	push_return(world);
	assert_int_equal(frames(world), POINTER + 0x88);
	/* Words of before, also such that look like addresses of code, change nothing. */
	push(world, 0x20, IN_MAIN);
	push(world, 0x28, IN_ERROR);
	push(world, 0x30, UINT64_MAX);
	push(world, 0x78, LIBRARY + 2);
	assert_int_equal(frames(world), POINTER + 0x88);
}

/* musl: exit() calls _exit() itself. */
static void test_musl(void **state)
{
	struct world *world = *state;

	free(world->files[1].name);
	world->files[1].name = memory_copy_string("/lib/ld-musl-x86_64.so.1");
	put_call(world, IN_EXIT, UNDERSCORE_EXIT);
	push(world, 0, IN_EXIT);
	push(world, 0x10, IN_START);
	assert_int_equal(frames(world), POINTER + 0x18);
}

/* Frames of the program are alive: it has called exit(), by itself or by a function of the library. */
static void test_program_exits(void **state)
{
	struct world *world = *state;

	push_return(world);
	push(world, 0x80, IN_MAIN);
	assert_int_equal(frames(world), 0);
	push(world, 0x80, IN_ERROR);
	assert_int_equal(frames(world), 0);
	push(world, 0x80, 0);
	assert_int_equal(frames(world), 0);
}

/* A handler calls _exit(), or exit() once more: it has a frame between. */
static void test_handler_exits(void **state)
{
	struct world *world = *state;

	push_return(world);
	push(world, 0, IN_MAIN);
	assert_int_equal(frames(world), 0);
	push(world, 0, IN_HANDLERS);
	push(world, 0x80, IN_MAIN);
	push(world, 0x90, IN_HANDLERS + 0x20);
	push(world, 0x100, IN_EXIT);
	push(world, 0x110, IN_START);
	assert_int_equal(frames(world), 0);
	/* However small its frame is. */
	push(world, 0xb0, IN_EXIT);
	push(world, 0xc0, IN_START);
	assert_int_equal(frames(world), 0);
}

/* In a static program the library looks like the rest; other files are none; nor is code that is not there. */
static void test_no_library(void **state)
{
	struct world *world = *state;

	push_return(world);
	free(world->files[1].name);
	world->files[1].name = memory_copy_string("/lib/libcrypt.so.1");
	assert_int_equal(frames(world), 0);
	free(world->files[1].name);
	world->files[1].name = memory_copy_string("");
	assert_int_equal(frames(world), 0);
	free(world->files[1].name);
	world->files[1].name = memory_copy_string("/lib/libc.so.6");
	assert_int_equal(frames(world), POINTER + 0x88);
	world->ranges[1].kind = MODULE_DATA;
	assert_int_equal(frames(world), 0);
	world->ranges[1].kind = MODULE_CODE;
	fake_image_absent(world->fake, LIBRARY, 0x2000);
	assert_int_equal(frames(world), 0);
}

static void test_odd_stacks(void **state)
{
	struct world *world = *state;
	const uint64_t pointers[] = {
		0, 1, POINTER + 4, UINT64_MAX, UINT64_MAX - 7, STACK + 0x4000 - 8
	};
	size_t i;

	push_return(world);
	fake_image_put_word(world->fake, STACK + 0x4000 - 8, IN_HANDLERS);
	fake_image_open(world->fake);
	for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
		assert_int_equal(
			reach_ending_frames(world->fake->image, &world->modules, pointers[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_main_has_returned, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_musl, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_program_exits, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_handler_exits, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_no_library, open_world, close_world),
		cmocka_unit_test_setup_teardown(test_odd_stacks, open_world, close_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
