/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What program headers in memory make of mappings. Truth: headers that the test wrote; and of the test itself, what the
 * loader has (dl_iterate_phdr).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/module_ranges.h"
#include "unit/fake_image.h"

#define BASE 0x400000ull

static struct fake_image *fake;
static struct module_ranges ranges;

/* A library as linkers make them: headers and constants, code, constants, data, of which one page is protected later. */
static const Elf64_Phdr segments[] = {
	{ PT_LOAD, PF_R, 0, 0, 0, 0x800, 0x800, 0x1000 },
	{ PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0x1000, 0x1800, 0x1800, 0x1000 },
	{ PT_LOAD, PF_R, 0x3000, 0x3000, 0x3000, 0x100, 0x100, 0x1000 },
	{ PT_LOAD, PF_R | PF_W, 0x3800, 0x4800, 0x4800, 0x1000, 0x3000, 0x1000 },
	{ PT_GNU_RELRO, PF_R, 0x3800, 0x4800, 0x4800, 0x800, 0x800, 1 },
	{ PT_TLS, PF_R, 0x3800, 0x4800, 0x4800, 0x10, 0x90, 8 },
};

#define SEGMENTS (sizeof(segments) / sizeof(segments[0]))

static void put_headers(const Elf64_Phdr *headers, size_t count)
{
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_phoff = sizeof(head),
		.e_phentsize = sizeof(*headers),
		.e_phnum = (Elf64_Half)count,
	};

	fake_image_put(fake, BASE, &head, sizeof(head));
	fake_image_put(fake, BASE + sizeof(head), headers, count * sizeof(*headers));
}

static int set_up(void **state)
{
	(void)state;
	fake = fake_image_new();
	fake_image_map(fake, BASE, 0x1000, "/x.so", FAKE_FILE);
	fake_image_map(fake, BASE + 0x1000, 0x2000, "/x.so", FAKE_FILE | FAKE_EXECUTABLE)
		->file_offset = 0x1000;
	fake_image_map(fake, BASE + 0x3000, 0x1000, "/x.so", FAKE_FILE)->file_offset = 0x3000;
	fake_image_map(fake, BASE + 0x4000, 0x1000, "/x.so", FAKE_FILE)->file_offset = 0x3000;
	fake_image_map(fake, BASE + 0x5000, 0x1000, "/x.so", FAKE_FILE | FAKE_WRITABLE)
		->file_offset = 0x4000;
	/* Two pages of .bss, merged with what somebody has mapped behind it. */
	fake_image_map(fake, BASE + 0x6000, 0x8000, "", FAKE_WRITABLE);
	put_headers(segments, SEGMENTS);
	return 0;
}

static void find(void)
{
	module_ranges_free(&ranges);
	module_ranges_find(fake_image_open(fake), &ranges);
}

static int tear_down(void **state)
{
	(void)state;
	module_ranges_free(&ranges);
	fake_image_free(fake);
	return 0;
}

static void check(size_t at, uint64_t start, uint64_t end, enum module_range_kind kind)
{
	assert_true(at < ranges.count);
	assert_int_equal(ranges.items[at].start, start);
	assert_int_equal(ranges.items[at].end, end);
	assert_int_equal(ranges.items[at].kind, kind);
}

static void test_divided(void **state)
{
	(void)state;
	find();
	assert_int_equal(ranges.count, 6);
	check(0, BASE, BASE + 0x1000, MODULE_CONSTANTS);
	check(1, BASE + 0x1000, BASE + 0x3000, MODULE_CODE);
	check(2, BASE + 0x3000, BASE + 0x4000, MODULE_CONSTANTS);
	check(3, BASE + 0x4000, BASE + 0x5000, MODULE_RELRO);
	check(4, BASE + 0x5000, BASE + 0x6000, MODULE_DATA);
	check(5, BASE + 0x6000, BASE + 0x8000, MODULE_BSS);
	assert_int_equal(ranges.module_count, 1);
	assert_string_equal(ranges.modules[0].name, "/x.so");
	assert_int_equal(ranges.modules[0].bias, BASE);
	assert_int_equal(ranges.modules[0].tls_size, 0x90);
	assert_int_equal(module_ranges_at(&ranges, BASE + 0x7fff)->kind, MODULE_BSS);
	assert_null(module_ranges_at(&ranges, BASE + 0x8000));
	assert_null(module_ranges_at(&ranges, 0));
	assert_true(module_range_is_writable(&ranges.items[4]));
	assert_false(module_range_is_writable(&ranges.items[3]));
}

/* A file that is read by mapping it is no module, nor is one whose header is not in memory. */
static void test_no_module(void **state)
{
	(void)state;
	fake->mappings[1].executable = false;
	find();
	assert_int_equal(ranges.count, 0);
	fake->mappings[1].executable = true;
	fake->mappings[1].file_offset = 0x2000;
	find();
	assert_int_equal(ranges.count, 0);
	fake->mappings[1].file_offset = 0x1000;
	fake_image_absent(fake, BASE, 0x1000);
	find();
	assert_int_equal(ranges.count, 0);
}

/* Headers that lie about their sizes get what is mapped of the file, and what is of no file behind it. */
static void test_lies(void **state)
{
	Elf64_Phdr lies[SEGMENTS];
	size_t i;

	(void)state;
	memcpy(lies, segments, sizeof(lies));
	lies[3].p_memsz = 1ull << 40;
	lies[0].p_filesz = lies[0].p_memsz = UINT64_MAX;
	put_headers(lies, SEGMENTS);
	find();
	for (i = 0; i < ranges.count; i++)
		assert_true(ranges.items[i].start >= BASE && ranges.items[i].end <= BASE + 0xe000 &&
			    ranges.items[i].start < ranges.items[i].end);
	check(ranges.count - 1, BASE + 0x6000, BASE + 0xe000, MODULE_BSS);
	/* Many that lie about the same place make few ranges. */
	for (i = 0; i < SEGMENTS; i++)
		lies[i] = segments[i > 0];
	put_headers(lies, SEGMENTS);
	find();
	assert_int_equal(ranges.count, 2);
	lies[0].p_vaddr = UINT64_MAX - 0xfff;
	put_headers(lies, SEGMENTS);
	find();
}

/* Each byte of the headers changed: whatever comes of it lies where something is mapped. */
static void test_damaged(void **state)
{
	unsigned char bytes[sizeof(Elf64_Ehdr) + sizeof(segments)], damaged;
	size_t i, j;

	(void)state;
	assert_int_equal(fake_image_read(fake, BASE, bytes, sizeof(bytes)), sizeof(bytes));
	for (i = 0; i < sizeof(bytes); i++) {
		damaged = bytes[i] ^ 0x81;
		fake_image_put(fake, BASE + i, &damaged, 1);
		find();
		for (j = 0; j < ranges.count; j++)
			assert_true(ranges.items[j].start >= BASE &&
				    ranges.items[j].end <= BASE + 0xe000);
		fake_image_put(fake, BASE + i, &bytes[i], 1);
	}
}

/* A module of the test, which its child has at the same place. */
static int check_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct module_range *range;
	uint64_t address;
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *header = &info->dlpi_phdr[i];

		address = info->dlpi_addr + header->p_vaddr;
		range = module_ranges_at(&ranges, address);
		/* The vdso is in no file. */
		if (header->p_type != PT_LOAD || !strncmp(info->dlpi_name, "linux-", 6))
			continue;
		assert_non_null(range);
		assert_int_equal(ranges.modules[range->module].bias, info->dlpi_addr);
		if (header->p_flags & PF_X)
			assert_int_equal(range->kind, MODULE_CODE);
		else if (header->p_flags & PF_W)
			assert_true(range->kind == MODULE_DATA || range->kind == MODULE_RELRO);
		else
			assert_int_equal(range->kind, MODULE_CONSTANTS);
		++*(size_t *)context;
	}
	return 0;
}

static int in_bss[4096];

static void test_own(void **state)
{
	static int in_data = 1;
	struct image *image;
	size_t checked = 0;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(image_open(pid, 0, &image, NULL), 0);
	module_ranges_free(&ranges);
	module_ranges_find(image, &ranges);
	dl_iterate_phdr(check_loaded, &checked);
	assert_true(checked > 8);
	assert_int_equal(module_ranges_at(&ranges, (uintptr_t)&in_data)->kind, MODULE_DATA);
	assert_int_equal(module_ranges_at(&ranges, (uintptr_t)&in_bss[2048])->kind, MODULE_BSS);
	assert_int_equal(module_ranges_at(&ranges, (uintptr_t)test_own)->kind, MODULE_CODE);
	assert_null(module_ranges_at(&ranges, (uintptr_t)&pid));
	image_free(image);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_divided), TEST(test_no_module), TEST(test_lies),
		TEST(test_damaged), TEST(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
