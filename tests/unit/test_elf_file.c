/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_file on real libraries and on small ones that are compiled here; the truth is what binutils' readelf prints of
 * the same file. Then damaged files.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "scratch.h"
#include "elf/elf_file.h"

struct segment {
	uint64_t offset, address, size;
	char flags[8];
};

struct truth {
	struct segment segments[16];
	size_t segment_count;
	char **functions; /* "OFFSET SIZE INDIRECT NAME" */
	size_t count, capacity;
};

struct found {
	char **functions;
	size_t count, capacity;
	struct elf_file *file;
};

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_line(char ***lines, size_t *count, size_t *capacity, char *line)
{
	*lines = memory_grow(*lines, *count, capacity, sizeof(**lines));
	(*lines)[(*count)++] = line;
}

static char *function_line(uint64_t offset, uint64_t size, bool indirect, const char *name)
{
	return memory_format("%016lx %lu %d %s", (unsigned long)offset, (unsigned long)size,
			     indirect, name);
}

static void free_lines(char **lines, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(lines[i]);
	free(lines);
}

/* Sort, and drop what stands there twice. */
static size_t unique_lines(char **lines, size_t count)
{
	size_t kept = 0, i;

	qsort(lines, count, sizeof(*lines), compare_lines);
	for (i = 0; i < count; i++) {
		if (kept && strcmp(lines[kept - 1], lines[i]) == 0)
			free(lines[i]);
		else
			lines[kept++] = lines[i];
	}
	return kept;
}

static void truth_segment(struct truth *truth, const char *line)
{
	struct segment *segment = &truth->segments[truth->segment_count];
	char flags[3][4] = { "", "", "" };

	if (sscanf(line, " LOAD %lx %lx %*x %lx %*x %3s %3s %3s", &segment->offset,
		   &segment->address, &segment->size, flags[0], flags[1], flags[2]) < 4)
		return;
	snprintf(segment->flags, sizeof(segment->flags), "%.2s%.2s%.2s", flags[0], flags[1],
		 flags[2]);
	assert_true(++truth->segment_count < 16);
}

static bool truth_offset(const struct truth *truth, uint64_t address, uint64_t *ret_offset)
{
	size_t i;

	for (i = 0; i < truth->segment_count; i++) {
		const struct segment *segment = &truth->segments[i];

		if (!strchr(segment->flags, 'E') || address < segment->address ||
		    address - segment->address >= segment->size)
			continue;
		*ret_offset = address - segment->address + segment->offset;
		return true;
	}
	return false;
}

static void truth_symbol(struct truth *truth, char *line)
{
	char type[16], section[16];
	static char name[65536];
	uint64_t address, offset;
	char *size_end;
	char size[32];

	if (sscanf(line, " %*d: %lx %31s %15s %*s %*s %15s %65535s", &address, size, type, section,
		   name) != 5)
		return;
	if ((strcmp(type, "FUNC") != 0 && strcmp(type, "IFUNC") != 0) ||
	    strcmp(section, "UND") == 0 || strcmp(section, "ABS") == 0)
		return;
	name[strcspn(name, "@")] = '\0';
	if (!name[0] || !truth_offset(truth, address, &offset))
		return;
	add_line(&truth->functions, &truth->count, &truth->capacity,
		 function_line(offset, strtoul(size, &size_end, 0), type[0] == 'I', name));
	assert_int_equal(*size_end, '\0');
}

/* What readelf says of a file. */
static struct truth truth_read(const char *path)
{
	char *command = memory_format("readelf -lsW '%s' 2>/dev/null", path), *line, *rest;
	struct buffer output = { 0 };
	struct truth truth = { 0 };

	scratch_output(&output, command);
	for (line = strtok_r(output.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		truth_segment(&truth, line);
		truth_symbol(&truth, line);
	}
	truth.count = unique_lines(truth.functions, truth.count);
	buffer_free(&output);
	free(command);
	return truth;
}

static bool found_add(void *context, const struct elf_function *function)
{
	struct found *found = context;

	add_line(&found->functions, &found->count, &found->capacity,
		 function_line(function->file_offset, function->size, function->indirect,
			       function->name));
	return true;
}

static struct elf_file *open_path(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file *file;

	assert_true(fd >= 0);
	file = elf_file_open(fd, error);
	close(fd);
	return file;
}

static struct found found_read(const char *path)
{
	struct error error = { 0 };
	struct found found = { .file = open_path(path, &error) };
	size_t count;

	if (!found.file)
		fail_msg("%s: %s", path, error.text);
	elf_file_functions(found.file, found_add, &found);
	count = found.count;
	/* Each is reported once. */
	found.count = unique_lines(found.functions, found.count);
	assert_int_equal(found.count, count);
	return found;
}

static void found_free(struct found *found)
{
	free_lines(found->functions, found->count);
	elf_file_close(found->file);
}

static void assert_same_lines(char **got, size_t got_count, char **want, size_t want_count)
{
	size_t i;

	for (i = 0; i < got_count && i < want_count; i++)
		assert_string_equal(got[i], want[i]);
	assert_int_equal(got_count, want_count);
}

static void check_functions(const char *path, size_t at_least)
{
	struct truth truth = truth_read(path);
	struct found found = found_read(path);

	assert_true(truth.count >= at_least);
	assert_same_lines(found.functions, found.count, truth.functions, truth.count);
	free_lines(truth.functions, truth.count);
	found_free(&found);
}

static const char *libc_path(void)
{
	Dl_info info;

	/* A function that the sanitizers do not replace. */
	assert_true(dladdr((void *)(uintptr_t)getppid, &info));
	assert_non_null(strstr(info.dli_fname, "libc.so.6"));
	return info.dli_fname;
}

static void test_functions_of_libc(void **state)
{
	(void)state;
	check_functions(libc_path(), 2000);
}

static void test_functions_of_this_program(void **state)
{
	char *path = realpath("/proc/self/exe", NULL);
	Dl_info library;

	(void)state;
	check_functions(path, 30);
	free(path);
	/* With all that is under test, which has far more. */
	assert_true(dladdr((void *)(uintptr_t)elf_file_open, &library));
	check_functions(library.dli_fname, 5000);
}

static bool stop_at_third(void *context, const struct elf_function *function)
{
	(void)function;
	return ++*(size_t *)context < 3;
}

static void test_functions_stop(void **state)
{
	struct elf_file *file = open_path(libc_path(), NULL);
	size_t count = 0;

	(void)state;
	elf_file_functions(file, stop_at_third, &count);
	assert_int_equal(count, 3);
	elf_file_close(file);
}

/* A library with two versions of one name, an indirect function, and one that is only in the static table. */
static const char library_source[] =
	"__asm__(\".symver old_answer, answer@ONE\\n.symver new_answer, answer@@TWO\");\n"
	"int old_answer(int x) { return x + 1; }\n"
	"int new_answer(int x) { return x * 3 + 2; }\n"
	"__attribute__((noinline)) static int hidden(int x) { return x * x; }\n"
	"static int (*choose(void))(int) { return hidden; }\n"
	"int chosen(int x) __attribute__((ifunc(\"choose\")));\n"
	"int data = 5;\n"
	"__asm__(\".pushsection .data\\n.globl not_code\\n.type not_code, @function\\n\"\n"
	"	\"not_code: .quad 0\\n.size not_code, 8\\n.popsection\");\n";
static const char library_versions[] =
	"ONE { global: answer; };\nTWO { global: answer; chosen; not_code; local: *; } ONE;\n";

static char *library_build(const struct scratch *scratch, const char *options)
{
	char *source = scratch_file(scratch, "a.c", library_source, strlen(library_source), 0644);
	char *versions =
		scratch_file(scratch, "a.map", library_versions, strlen(library_versions), 0644);
	char *path = scratch_path(scratch, "liba.so");

	assert_int_equal(scratch_run("cc -O1 -shared -fPIC -nostdlib -Wl,--version-script=%s "
				     "-Wl,--build-id=0x0123456789abcdef %s -o %s %s",
				     versions, options, path, source),
			 0);
	free(source);
	free(versions);
	return path;
}

struct named {
	const char *name;
	size_t count, indirect;
	uint64_t offsets[8];
};

static bool count_named(void *context, const struct elf_function *function)
{
	struct named *named = context;

	if (strcmp(function->name, named->name) != 0)
		return true;
	assert_true(named->count < 8);
	named->offsets[named->count++] = function->file_offset;
	named->indirect += function->indirect;
	return true;
}

static struct named find_named(struct elf_file *file, const char *name)
{
	struct named named = { .name = name };

	elf_file_functions(file, count_named, &named);
	return named;
}

static void test_versions(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, "");
	struct elf_file *file = open_path(path, NULL);
	struct named named = find_named(file, "answer");

	(void)state;
	assert_int_equal(named.count, 2);
	assert_int_not_equal(named.offsets[0], named.offsets[1]);
	named = find_named(file, "chosen");
	assert_int_equal(named.count, 1);
	assert_int_equal(named.indirect, 1);
	assert_int_equal(find_named(file, "hidden").count, 1);
	/* A function symbol in the data segment must never be probed. */
	assert_int_equal(find_named(file, "not_code").count, 0);
	assert_int_equal(find_named(file, "data").count, 0);
	check_functions(path, 5);
	elf_file_close(file);
	free(path);
	scratch_remove(&scratch);
}

/* Compress a file as the section .gnu_debugdata wants it. */
static void compress_xz(const char *from, const char *to)
{
	size_t capacity, size = 0;
	struct stat status;
	uint8_t *bytes, *packed;
	int fd = open(from, O_RDONLY | O_CLOEXEC);

	assert_int_equal(fstat(fd, &status), 0);
	bytes = memory_alloc((size_t)status.st_size, 1);
	assert_int_equal(read(fd, bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	capacity = lzma_stream_buffer_bound((size_t)status.st_size);
	packed = memory_alloc(capacity, 1);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, bytes,
						 (size_t)status.st_size, packed, &size, capacity),
			 LZMA_OK);
	fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, packed, size), size);
	close(fd);
	free(bytes);
	free(packed);
}

/* Made as gdb's manual describes for MiniDebugInfo. */
static void test_debugdata(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, ""), *debug = scratch_path(&scratch, "debug");
	char *packed = scratch_path(&scratch, "debug.xz");
	struct truth truth = truth_read(path);
	struct found found;
	struct elf_file *file;

	(void)state;
	assert_int_equal(
		scratch_run("objcopy --only-keep-debug %s %s && strip %s", path, debug, path), 0);
	file = open_path(path, NULL);
	assert_int_equal(find_named(file, "hidden").count, 0);
	assert_int_equal(find_named(file, "answer").count, 2);
	elf_file_close(file);
	compress_xz(debug, packed);
	assert_int_equal(scratch_run("objcopy --add-section .gnu_debugdata=%s %s", packed, path),
			 0);
	found = found_read(path);
	assert_same_lines(found.functions, found.count, truth.functions, truth.count);
	assert_int_equal(find_named(found.file, "hidden").count, 1);
	found_free(&found);
	/* Damage within: the dynamic table still counts. */
	assert_int_equal(scratch_run("printf 'no xz' > %s && objcopy --update-section "
				     ".gnu_debugdata=%s %s",
				     packed, packed, path),
			 0);
	file = open_path(path, NULL);
	assert_int_equal(find_named(file, "hidden").count, 0);
	assert_int_equal(find_named(file, "answer").count, 2);
	elf_file_close(file);
	free_lines(truth.functions, truth.count);
	free(packed);
	free(debug);
	free(path);
	scratch_remove(&scratch);
}

/* A few bytes of xz that grow to more than any debugdata may have. */
static void test_debugdata_bomb(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, "-s"), *zeros = scratch_path(&scratch, "zeros");
	char *packed = scratch_path(&scratch, "zeros.xz");
	struct elf_file *file;
	int fd = open(zeros, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	(void)state;
	assert_int_equal(ftruncate(fd, 80 << 20), 0);
	close(fd);
	compress_xz(zeros, packed);
	assert_int_equal(scratch_run("objcopy --add-section .gnu_debugdata=%s %s", packed, path),
			 0);
	file = open_path(path, NULL);
	assert_int_equal(find_named(file, "answer").count, 2);
	elf_file_close(file);
	free(zeros);
	free(packed);
	free(path);
	scratch_remove(&scratch);
}

static void check_build_id(const char *path)
{
	char *command = memory_format("readelf -nW '%s' 2>/dev/null | sed -n "
				      "'s/.*Build ID: *//p' | head -n 1",
				      path);
	unsigned char id[64];
	char text[130] = "";
	struct buffer output = { 0 };
	struct elf_file *file = open_path(path, NULL);
	size_t size = elf_file_build_id(file, id, sizeof(id)), i;

	scratch_output(&output, command);
	for (i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	output.data[strcspn(output.data, "\n")] = '\0';
	assert_true(size > 0);
	assert_string_equal(text, output.data);
	assert_int_equal(elf_file_build_id(file, id, size - 1), 0);
	elf_file_close(file);
	buffer_free(&output);
	free(command);
}

static void test_build_id(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, "-Wl,-z,separate-code");
	struct elf_file *file;
	unsigned char id[8];

	(void)state;
	check_build_id(libc_path());
	check_build_id(path);
	free(path);
	/* Another note in front of it. */
	path = library_build(&scratch, "-fcf-protection=full");
	check_build_id(path);
	assert_int_equal(scratch_run("objcopy --remove-section .note.gnu.build-id %s", path), 0);
	file = open_path(path, NULL);
	assert_int_equal(elf_file_build_id(file, id, sizeof(id)), 0);
	elf_file_close(file);
	free(path);
	scratch_remove(&scratch);
}

/* The note is found by its section when no segment has it. */
static void test_build_id_of_section(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, "");
	int fd = open(path, O_RDWR | O_CLOEXEC), i;
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	(void)state;
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	for (i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + (size_t)i * sizeof(segment));

		assert_int_equal(pread(fd, &segment, sizeof(segment), at), sizeof(segment));
		if (segment.p_type != PT_NOTE)
			continue;
		segment.p_type = PT_NULL;
		assert_int_equal(pwrite(fd, &segment, sizeof(segment), at), sizeof(segment));
	}
	close(fd);
	check_build_id(path);
	free(path);
	scratch_remove(&scratch);
}

static void check_interpreter(const char *path)
{
	char *command =
		memory_format("readelf -lW '%s' | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p'", path);
	struct elf_file *file = open_path(path, NULL);
	struct buffer output = { 0 };

	scratch_output(&output, command);
	output.data[strcspn(output.data, "\n")] = '\0';
	assert_string_equal(elf_file_interpreter(file), output.data);
	elf_file_close(file);
	buffer_free(&output);
	free(command);
}

static void test_interpreter(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, "");
	struct elf_file *file = open_path(path, NULL);

	(void)state;
	check_interpreter("/bin/sh");
	check_interpreter(libc_path());
	assert_null(elf_file_interpreter(file));
	elf_file_close(file);
	free(path);
	scratch_remove(&scratch);
}

static void test_addresses(void **state)
{
	struct truth truth = truth_read(libc_path());
	struct elf_file *file = open_path(libc_path(), NULL);
	uint64_t offset = 7, address = 7, last = 0;
	size_t i;

	(void)state;
	assert_true(truth.segment_count >= 3);
	for (i = 0; i < truth.segment_count; i++) {
		const struct segment *segment = &truth.segments[i];

		last = segment->size - 1;
		assert_true(elf_file_address_to_offset(file, segment->address + last, &offset));
		assert_int_equal(offset, segment->offset + last);
		assert_true(elf_file_offset_to_address(file, segment->offset, &address));
		assert_int_equal(address, segment->address);
		assert_true(elf_file_offset_to_address(file, segment->offset + last, &address));
		assert_int_equal(address, segment->address + last);
	}
	/* The last segment ends in memory that has no file behind it. */
	offset = address = 7;
	assert_false(elf_file_address_to_offset(file, truth.segments[i - 1].address + last + 1,
						&offset));
	assert_false(elf_file_offset_to_address(file, UINT64_MAX, &address));
	assert_int_equal(offset, 7);
	assert_int_equal(address, 7);
	free_lines(truth.functions, truth.count);
	elf_file_close(file);
}

static void test_read(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, "");
	struct elf_file *file = open_path(path, NULL);
	struct stat status;
	char bytes[64];

	(void)state;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(elf_file_read(file, 0, bytes, 4), 4);
	assert_memory_equal(bytes, ELFMAG, 4);
	assert_int_equal(elf_file_read(file, (uint64_t)status.st_size - 5, bytes, 64), 5);
	assert_int_equal(elf_file_read(file, (uint64_t)status.st_size, bytes, 64), 0);
	assert_int_equal(elf_file_read(file, UINT64_MAX - 1, bytes, 64), 0);
	assert_int_equal(elf_file_read(file, INT64_MAX, bytes, 64), 0);
	elf_file_close(file);
	elf_file_close(NULL);
	free(path);
	scratch_remove(&scratch);
}

static void assert_refused(const char *path, const char *why)
{
	struct error error = { 0 };

	assert_null(open_path(path, &error));
	assert_int_equal(error.kind, ERROR_NOTHING);
	if (!strstr(error.text, why))
		fail_msg("'%s' does not say '%s'", error.text, why);
}

static void patch(const char *path, off_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_int_equal(pwrite(fd, bytes, size, offset), size);
	close(fd);
}

static void test_refused(void **state)
{
	static const struct {
		off_t offset;
		unsigned char byte;
		const char *why;
	} headers[] = {
		{ 0, 'x', "not an ELF file" },
		{ EI_CLASS, ELFCLASS32, "32-bit" },
		{ EI_CLASS, 9, "unknown" },
		{ EI_DATA, ELFDATA2MSB, "byte order" },
		{ offsetof(Elf64_Ehdr, e_machine), 0, "another machine" },
		{ offsetof(Elf64_Ehdr, e_shnum) + 1, 0xfe, "damaged" },
		{ offsetof(Elf64_Ehdr, e_phnum) + 1, 0xfe, "damaged" },
		{ offsetof(Elf64_Ehdr, e_shentsize), 1, "damaged" },
		{ offsetof(Elf64_Ehdr, e_shoff) + 7, 0x7f, "damaged" },
		{ offsetof(Elf64_Ehdr, e_phoff) + 7, 0xff, "damaged" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct scratch scratch = scratch_make();
		char *path = scratch_path(&scratch, "true");

		assert_int_equal(scratch_run("cp /bin/true %s", path), 0);
		patch(path, headers[i].offset, &headers[i].byte, 1);
		assert_refused(path, headers[i].why);
		free(path);
		scratch_remove(&scratch);
	}
	assert_refused("/dev/null", "not a regular file");
	assert_refused("/etc/passwd", "not an ELF file");
	assert_null(elf_file_open(-1, NULL));
}

/* A number of sections that is in section header 0, where it may be anything. */
static void test_section_count(void **state)
{
	static const uint64_t counts[] = { 1ull << 24, 1ull << 32, 1ull << 63, UINT64_MAX };
	struct scratch scratch = scratch_make();
	char *path = scratch_path(&scratch, "true");
	Elf64_Ehdr header;
	Elf64_Shdr first = { 0 };
	size_t i;
	int fd;

	(void)state;
	assert_int_equal(scratch_run("cp /bin/true %s", path), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, &header, sizeof(header)), sizeof(header));
	close(fd);
	header.e_shnum = 0;
	patch(path, 0, &header, sizeof(header));
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		first.sh_size = counts[i];
		patch(path, (off_t)header.e_shoff, &first, sizeof(first));
		assert_refused(path, "damaged");
	}
	free(path);
	scratch_remove(&scratch);
}

static void use_everything(struct elf_file *file)
{
	unsigned char id[64];
	size_t count = 0;

	elf_file_functions(file, stop_at_third, &count);
	elf_file_build_id(file, id, sizeof(id));
	elf_file_interpreter(file);
}

/* The file shrinks, before it is opened and while it is open. A mapped file would end the program here. */
static void test_truncated(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = library_build(&scratch, ""), *copy = scratch_path(&scratch, "copy");
	struct elf_file *file;
	struct stat status;
	off_t size;

	(void)state;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(scratch_run("cp %s %s", path, copy), 0);
	for (size = status.st_size - 1; size >= 0; size -= size > 100 ? 97 : 1) {
		assert_int_equal(truncate(copy, size), 0);
		assert_refused(copy, size < 4 ? "not an ELF file" : "");
	}
	for (size = 0; size < status.st_size; size += 997) {
		assert_int_equal(scratch_run("cp %s %s", path, copy), 0);
		file = open_path(copy, NULL);
		assert_int_equal(truncate(copy, size), 0);
		use_everything(file);
		elf_file_close(file);
	}
	free(copy);
	free(path);
	scratch_remove(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_libc),
		cmocka_unit_test(test_functions_of_this_program),
		cmocka_unit_test(test_functions_stop),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_debugdata),
		cmocka_unit_test(test_debugdata_bomb),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_build_id_of_section),
		cmocka_unit_test(test_interpreter),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_section_count),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
