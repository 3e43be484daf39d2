/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of real files. Truth is readelf(1) of binutils, row by row. Files given as arguments are
 * compared in place of the usual ones: tests/unwind_sweep does that with all of /usr/lib.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <sys/auxv.h>

#include "map_file.h"
#include "readelf_frames.h"
#include "unwind/cfi_table.h"

/*
 * Compare one file with readelf, and add the number of rows; a file without unwind tables has none. False if
 * they differ.
 */
static bool check_file(const char *path, uint64_t *rows)
{
	uint64_t compared = 0, mismatches = 0;
	struct elf_image image;
	struct cfi_table table = { 0 };
	const void *bytes;
	size_t size;

	bytes = map_file(path, &size);
	if (!bytes)
		return true;
	if (!elf_image_open(bytes, size, ELF_LAYOUT_FILE, &image) &&
	    !cfi_table_build(&image, &table))
		readelf_check(path, &table, &compared, &mismatches);
	if (mismatches || table.skipped)
		printf("%s: %llu mismatches in %llu rows, %u entries skipped\n", path,
		       (unsigned long long)mismatches, (unsigned long long)compared, table.skipped);
	*rows += compared;
	munmap((void *)bytes, size);
	compared = mismatches + table.skipped;
	cfi_table_free(&table);
	return !compared;
}

static void test_files_against_readelf(void **state)
{
	static const char *const patterns[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libruby-*.so.*.*.*",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/bin/python3.[0-9]*",
	};
	uint64_t rows = 0;
	glob_t files;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	for (i = 0; i < files.gl_pathc; i++)
		assert_true(check_file(files.gl_pathv[i], &rows));
	globfree(&files);
	assert_true(rows > 10000);
}

/* What a cross compiler for arm64 comes with, where there is one. */
static void test_arm64_files_against_readelf(void **state)
{
	static const char *const names[] = { "libc.so.6", "libstdc++.so.6", "libasan.so.8",
					     "ld-linux-aarch64.so.1" };
	char path[256];
	uint64_t rows = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/usr/aarch64-linux-gnu/lib/%s", names[i]);
		assert_true(check_file(path, &rows));
	}
	if (!rows)
		skip();
	assert_true(rows > 10000);
}

static void test_own_executable_against_readelf(void **state)
{
	char *path = realpath("/proc/self/exe", NULL);
	uint64_t rows = 0;

	(void)state;
	assert_non_null(path);
	assert_true(check_file(path, &rows));
	assert_true(rows > 100);
	free(path);
}

/* The vdso is compiled from memory; readelf gets the same bytes as a file. */
static void test_vdso_against_readelf(void **state)
{
	const uint8_t *vdso = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	char path[] = "/tmp/tracer-vdso-XXXXXX";
	uint64_t rows, mismatches;
	struct elf_image image;
	struct cfi_table table;
	int fd;

	(void)state;
	if (!vdso)
		skip();
	/* The kernel maps at least two pages, mostly exactly that. */
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, vdso, 8192), 8192);
	close(fd);
	assert_int_equal(elf_image_open(vdso, 8192, ELF_LAYOUT_MEMORY, &image), 0);
	assert_int_equal(cfi_table_build(&image, &table), 0);
	readelf_check(path, &table, &rows, &mismatches);
	unlink(path);
	assert_true(rows > 5);
	assert_int_equal(mismatches, 0);
	cfi_table_free(&table);
}

static int sweep(int count, char *files[])
{
	uint64_t rows = 0;
	int i, bad = 0;

	for (i = 0; i < count; i++)
		bad += !check_file(files[i], &rows);
	printf("%llu rows in %d files compared, %d files differ\n", (unsigned long long)rows, count,
	       bad);
	return bad != 0;
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_against_readelf),
		cmocka_unit_test(test_arm64_files_against_readelf),
		cmocka_unit_test(test_own_executable_against_readelf),
		cmocka_unit_test(test_vdso_against_readelf),
	};

	if (argc > 1)
		return sweep(argc - 1, argv + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
