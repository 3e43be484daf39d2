/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols that were stripped away: found again in the right debug file, and in no other one. The truth is the source of
 * the program: `hidden` is a static function of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "discover/debug_search.h"
#include "discover/debug_symbols.h"
#include "scratch.h"

struct work {
	struct scratch scratch;
	struct module module;
};

/* "full" with symbols, "full.debug" with nothing else, "bare" without. */
static struct work work_make(const char *flags)
{
	struct work work = { .scratch = scratch_make() };

	assert_int_equal(
		scratch_run("cd %s && printf '%s' > p.c && gcc -O0 %s -o full p.c && "
			    "objcopy --only-keep-debug full full.debug && strip -o bare full",
			    work.scratch.path,
			    "static int hidden(void) { return 1; } int main() { return hidden(); }",
			    flags),
		0);
	return work;
}

static void work_run(const struct work *work, const char *command)
{
	assert_int_equal(scratch_run("cd %s && %s", work->scratch.path, command), 0);
}

static bool find_hidden(void *context, const struct elf_function *function)
{
	*(int *)context += strcmp(function->name, "hidden") == 0;
	return true;
}

static int open_candidate(void *context, const struct debug_want *want, uint32_t *candidate)
{
	const struct debug_search search = { .host_directory = "/usr/lib/debug" };

	return debug_search_open(&search, context, want, candidate);
}

/* How often `hidden` is found in a file after its debug file was asked for; -1 = none was taken. */
static int hidden_in(struct work *work, const char *name)
{
	char *path = scratch_path(&work->scratch, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC), found = 0;
	struct elf_file *file = elf_file_open(fd, NULL);
	const struct debug_source source = { open_candidate, &work->module };

	assert_non_null(file);
	work->module = (struct module){ .path = path, .fd = fd };
	if (!debug_symbols_add(&source, file))
		found = -1;
	else
		elf_file_functions(file, find_hidden, &found);
	elf_file_close(file);
	close(fd);
	free(path);
	return found;
}

static void test_debug_link(void **state)
{
	struct work work = work_make("-Wl,--build-id");

	(void)state;
	assert_int_equal(hidden_in(&work, "full"), -1); /* needs none */
	assert_int_equal(hidden_in(&work, "bare"), -1); /* nothing leads to it */
	work_run(&work, "objcopy --add-gnu-debuglink=full.debug bare");
	assert_int_equal(hidden_in(&work, "bare"), 1);
	work_run(&work, "mkdir .debug && mv full.debug .debug/");
	assert_int_equal(hidden_in(&work, "bare"), 1);
	scratch_remove(&work.scratch);
}

/* Without a build ID the checksum decides. */
static void test_checksum(void **state)
{
	struct work work = work_make("-Wl,--build-id=none");

	(void)state;
	work_run(&work, "objcopy --add-gnu-debuglink=full.debug bare");
	assert_int_equal(hidden_in(&work, "bare"), 1);
	work_run(&work, "printf x >> full.debug");
	assert_int_equal(hidden_in(&work, "bare"), -1);
	scratch_remove(&work.scratch);
}

static void test_other_build(void **state)
{
	struct work work = work_make("-Wl,--build-id=0x1234");

	(void)state;
	work_run(&work, "objcopy --add-gnu-debuglink=full.debug bare");
	assert_int_equal(hidden_in(&work, "bare"), 1);
	work_run(&work, "gcc -O0 -Wl,--build-id=0x5678 -o full p.c && "
			"objcopy --only-keep-debug full full.debug");
	assert_int_equal(hidden_in(&work, "bare"), -1);
	scratch_remove(&work.scratch);
}

/* A name that leads elsewhere, and a file that is no program. */
static void test_hostile(void **state)
{
	struct work work = work_make("-Wl,--build-id=none");

	(void)state;
	work_run(&work,
		 "mkdir sub && mv bare sub/ && printf '../full.debug\\0\\0\\0crc!' > link && "
		 "objcopy --add-section .gnu_debuglink=link sub/bare");
	assert_int_equal(hidden_in(&work, "sub/bare"), -1);
	work_run(&work, "printf 'full.debug' > link && "
			"objcopy --update-section .gnu_debuglink=link sub/bare");
	assert_int_equal(hidden_in(&work, "sub/bare"), -1); /* no checksum in it */
	work_run(&work, "echo no program > note && mv sub/bare . && "
			"objcopy --remove-section .gnu_debuglink bare && "
			"objcopy --add-gnu-debuglink=note bare");
	assert_int_equal(hidden_in(&work, "bare"), -1);
	scratch_remove(&work.scratch);
}

/* Beside a module its owner may put links to what only the tracer may open. */
static void test_symbolic_link(void **state)
{
	struct work work = work_make("-Wl,--build-id");

	(void)state;
	work_run(&work, "objcopy --add-gnu-debuglink=full.debug bare && mv full.debug other && "
			"ln -s other full.debug");
	assert_int_equal(hidden_in(&work, "bare"), -1);
	work_run(&work, "mkdir elsewhere && mv other elsewhere/full.debug && rm full.debug && "
			"ln -s elsewhere .debug");
	assert_int_equal(hidden_in(&work, "bare"), -1);
	work_run(&work, "rm .debug && mv elsewhere .debug");
	assert_int_equal(hidden_in(&work, "bare"), 1);
	scratch_remove(&work.scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug_link),    cmocka_unit_test(test_checksum),
		cmocka_unit_test(test_other_build),   cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_symbolic_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
