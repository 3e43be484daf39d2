/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes of USDT probes. The truth about real files is what binutils' readelf prints of them; the other files are made
 * here, so that it is what the test has put into them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scratch.h"
#include "elf/elf_usdt.h"
#include "unit/usdt_image.h"

#define PLACE (USDT_CODE + 0x10)
#define COUNT (USDT_DATA + 0x20)

struct seen {
	struct elf_usdt probe; /* the last one; its texts are copied */
	char provider[32], name[32], arguments[64];
	size_t count, limit;
};

static bool see(void *context, const struct elf_usdt *probe)
{
	struct seen *seen = context;

	seen->probe = *probe;
	snprintf(seen->provider, sizeof(seen->provider), "%s", probe->provider);
	snprintf(seen->name, sizeof(seen->name), "%s", probe->name);
	snprintf(seen->arguments, sizeof(seen->arguments), "%s", probe->arguments);
	return ++seen->count != seen->limit;
}

static struct seen visit(const struct buffer *notes, size_t limit)
{
	struct seen seen = { .limit = limit };
	int fd = usdt_image(notes->data, notes->length);
	struct elf_file *file = elf_file_open(fd, NULL);

	assert_non_null(file);
	elf_usdt_visit(file, see, &seen);
	elf_file_close(file);
	close(fd);
	return seen;
}

static struct seen visit_note(const struct usdt_note *note)
{
	struct buffer notes = { 0 };
	struct seen seen;

	usdt_note_append(&notes, note);
	seen = visit(&notes, 0);
	buffer_free(&notes);
	assert_int_equal(seen.count, 1);
	return seen;
}

static struct usdt_note a_note(uint64_t address, uint64_t semaphore)
{
	return (struct usdt_note){ address, USDT_BASE, semaphore, "mine", "it", "8@%rdi" };
}

static void test_content(void **state)
{
	struct usdt_note note = a_note(PLACE, COUNT);
	struct seen seen = visit_note(&note);

	(void)state;
	assert_null(seen.probe.refusal);
	assert_int_equal(seen.probe.offset, PLACE - USDT_DISTANCE);
	assert_int_equal(seen.probe.semaphore, COUNT - USDT_DISTANCE);
	assert_string_equal(seen.provider, "mine");
	assert_string_equal(seen.name, "it");
	assert_string_equal(seen.arguments, "8@%rdi");
}

/* A file whose addresses were moved after the link: all of them, but not those in the notes. */
static void test_moved_file(void **state)
{
	struct usdt_note note = a_note(PLACE - 0x700, COUNT - 0x700);
	struct seen seen;

	(void)state;
	note.base = USDT_BASE - 0x700;
	seen = visit_note(&note);
	assert_null(seen.probe.refusal);
	assert_int_equal(seen.probe.offset, PLACE - USDT_DISTANCE);
	assert_int_equal(seen.probe.semaphore, COUNT - USDT_DISTANCE);
}

static void assert_refused(uint64_t address, uint64_t semaphore, const char *why)
{
	struct usdt_note note = a_note(address, semaphore);
	struct seen seen = visit_note(&note);

	if (!seen.probe.refusal || !strstr(seen.probe.refusal, why))
		fail_msg("%lx, %lx: %s", (unsigned long)address, (unsigned long)semaphore,
			 seen.probe.refusal ? seen.probe.refusal : "not refused");
	assert_int_equal(seen.probe.offset, address == PLACE ? PLACE - USDT_DISTANCE : 0);
	assert_int_equal(seen.probe.semaphore, 0);
}

static void test_places_that_are_none(void **state)
{
	(void)state;
	assert_refused(0, 0, "code");
	assert_refused(USDT_CODE - 1, 0, "code");
	assert_refused(USDT_DATA, 0, "code");
	assert_refused(UINT64_MAX, 0, "code");
	assert_refused(PLACE, PLACE, "data");
	assert_refused(PLACE, USDT_DATA - 1, "data");
	/* Not aligned, behind the part that is in the file, and partly so. */
	assert_refused(PLACE, COUNT + 1, "data");
	assert_refused(PLACE, USDT_DATA + USDT_PAGE, "data");
	assert_refused(PLACE, USDT_DATA + USDT_PAGE - 1, "data");
	assert_refused(PLACE, UINT64_MAX, "data");
	assert_refused(PLACE, UINT64_MAX - 1, "data");
}

static void test_last_places(void **state)
{
	struct usdt_note note = a_note(USDT_DATA - 1, USDT_DATA + USDT_PAGE - 2);
	struct seen seen = visit_note(&note);

	(void)state;
	assert_null(seen.probe.refusal);
	assert_int_equal(seen.probe.offset, USDT_DATA - 1 - USDT_DISTANCE);
}

static void test_end_of_visit(void **state)
{
	struct usdt_note note = a_note(PLACE, 0);
	struct buffer notes = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 5; i++)
		usdt_note_append(&notes, &note);
	assert_int_equal(visit(&notes, 0).count, 5);
	assert_int_equal(visit(&notes, 2).count, 2);
	buffer_free(&notes);
}

/* Whatever is cut off, or written over, costs a note and not more. */
static void test_damaged_notes(void **state)
{
	struct usdt_note note = a_note(PLACE, COUNT);
	struct buffer notes = { 0 };
	size_t length, at;

	(void)state;
	usdt_note_append(&notes, &note);
	usdt_note_append(&notes, &note);
	length = notes.length;
	for (at = 0; at < length; at++) {
		char before = notes.data[at];

		notes.data[at] = (char)0xff;
		assert_true(visit(&notes, 0).count <= 2);
		notes.data[at] = before;
	}
	for (notes.length = 0; notes.length < length; notes.length++)
		assert_true(visit(&notes, 0).count <= 1);
	notes.length = length;
	buffer_free(&notes);
}

/* What readelf prints of a file: "PROVIDER NAME LOCATION SEMAPHORE ARGUMENTS" for each note. */
static void notes_by_readelf(const char *path, struct buffer *lines)
{
	char *command = memory_format(
		"readelf -n '%s' | awk '/Provider:/ { p = $2 } /Name:/ { n = $2 } "
		"/Location:/ { gsub(\",\", \"\"); l = $2; s = $6 } "
		"/Arguments:/ { sub(/^ *Arguments: */, \"\"); print p, n, l, s, $0 }'",
		path);

	scratch_output(lines, command);
	free(command);
}

struct lines {
	struct elf_file *file;
	struct buffer text;
};

static bool see_line(void *context, const struct elf_usdt *probe)
{
	struct lines *lines = context;
	uint64_t address, semaphore = 0;

	assert_null(probe->refusal);
	assert_true(elf_file_offset_to_address(lines->file, probe->offset, &address));
	if (probe->semaphore)
		assert_true(elf_file_offset_to_address(lines->file, probe->semaphore, &semaphore));
	buffer_printf(&lines->text, "%s %s 0x%016lx 0x%016lx %s\n", probe->provider, probe->name,
		      (unsigned long)address, (unsigned long)semaphore, probe->arguments);
	return true;
}

static void assert_as_readelf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct lines lines = { .file = elf_file_open(fd, NULL) };
	struct buffer truth = { 0 };

	assert_non_null(lines.file);
	notes_by_readelf(path, &truth);
	elf_usdt_visit(lines.file, see_line, &lines);
	assert_true(truth.length > 0);
	assert_string_equal(lines.text.data, truth.data);
	elf_file_close(lines.file);
	close(fd);
	buffer_free(&lines.text);
	buffer_free(&truth);
}

/* A library with notes in the form of sys/sdt.h, which need not be installed. */
static void test_compiled_library(void **state)
{
	static const char source[] =
		"#define NOTE(name, text, at) __asm__ volatile(\"990: nop\\n\" \\\n"
		"\".pushsection .note.stapsdt,\\\"\\\",\\\"note\\\"\\n.balign 4\\n\" \\\n"
		"\".4byte 992f-991f,994f-993f,3\\n991: .asciz \\\"stapsdt\\\"\\n\" \\\n"
		"\"992: .balign 4\\n993: .8byte 990b\\n.8byte _.stapsdt.base\\n.8byte \" at "
		"\"\\n\" \\\n"
		"\".asciz \\\"mine\\\"\\n.asciz \\\"\" name \"\\\"\\n.asciz \\\"\" text "
		"\"\\\"\\n\" \\\n"
		"\"994: .balign 4\\n.popsection\\n\" \\\n"
		"\".ifndef _.stapsdt.base\\n.pushsection "
		".stapsdt.base,\\\"aG\\\",\\\"progbits\\\",\" \\\n"
		"\".stapsdt.base,comdat\\n.weak _.stapsdt.base\\n.hidden _.stapsdt.base\\n\" \\\n"
		"\"_.stapsdt.base: .space 1\\n.size _.stapsdt.base,1\\n.popsection\\n.endif\\n\")\n"
		"__attribute__((section(\".probes\"), visibility(\"hidden\"))) unsigned short "
		"listens;\n"
		"void one(void) { NOTE(\"alloc\", \"8@%rdi -4@$5\", \"listens\"); }\n"
		"void two(void) { NOTE(\"free\", \"8@-8(%rbp)\", \"0\"); NOTE(\"alloc\", \"\", "
		"\"0\"); }\n";
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "notes.c", source, sizeof(source) - 1, 0600);

	(void)state;
	assert_int_equal(scratch_run("cd %s && cc -O2 -fPIC -shared -o notes.so notes.c && "
				     "strip -o stripped.so notes.so",
				     scratch.path),
			 0);
	free(path);
	path = scratch_path(&scratch, "notes.so");
	assert_as_readelf(path);
	free(path);
	path = scratch_path(&scratch, "stripped.so");
	assert_as_readelf(path);
	free(path);
	scratch_remove(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_moved_file),
		cmocka_unit_test(test_places_that_are_none),
		cmocka_unit_test(test_last_places),
		cmocka_unit_test(test_end_of_visit),
		cmocka_unit_test(test_damaged_notes),
		cmocka_unit_test(test_compiled_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
