/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports must arrive whole wherever they go, and never where somebody else has pointed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/output.h"
#include "system/end_signals.h"
#include "unit/scratch.h"

/* More than a pipe holds (64 KiB, or 1 MiB where it was raised), so that one write cannot do. */
#define BIG (3 << 20)

struct folder {
	char path[64];
	char *file, *link;
};

static int folder_make(void **state)
{
	struct folder *folder = memory_alloc(1, sizeof(*folder));

	strcpy(folder->path, "/tmp/test_output.XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	folder->file = memory_format("%s/report", folder->path);
	folder->link = memory_format("%s/link", folder->path);
	*state = folder;
	return 0;
}

static int folder_remove(void **state)
{
	struct folder *folder = *state;

	unlink(folder->file);
	unlink(folder->link);
	rmdir(folder->path);
	free(folder->file);
	free(folder->link);
	free(folder);
	return 0;
}

static struct buffer pattern(size_t length)
{
	struct buffer text = { 0 };
	size_t i;

	for (i = 0; i < length; i++)
		buffer_append(&text, &(char){ (char)('a' + i % 23) }, 1);
	return text;
}

/* Reads a pipe to its end in small steps. */
static void *drain(void *argument)
{
	struct buffer *got = argument;
	int fd = (int)got->capacity;
	char part[4099];
	ssize_t length;

	*got = (struct buffer){ 0 };
	while ((length = read(fd, part, sizeof(part))) > 0)
		buffer_append(got, part, (size_t)length);
	close(fd);
	return NULL;
}

/* What came out of a pipe must be what was put in, however the kernel splits it. */
static void check_pipe(int flags)
{
	struct buffer sent = pattern(BIG), got = { 0 };
	struct output output = { .fd = -1 };
	struct error error = { 0 };
	pthread_t reader;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	if (flags)
		assert_int_equal(fcntl(ends[1], F_SETFL, flags), 0);
	got.capacity = (size_t)ends[0];
	assert_int_equal(pthread_create(&reader, NULL, drain, &got), 0);
	output.fd = ends[1];
	assert_int_equal(output_write(&output, &sent, &error), 0);
	close(ends[1]);
	pthread_join(reader, NULL);
	assert_int_equal(got.length, sent.length);
	assert_memory_equal(got.data, sent.data, sent.length);
	buffer_free(&got);
	buffer_free(&sent);
}

static void test_pipe_gets_everything(void **state)
{
	(void)state;
	check_pipe(0);
}

static void test_nonblocking_pipe_gets_everything(void **state)
{
	(void)state;
	check_pipe(O_NONBLOCK);
}

static void test_closed_pipe_is_distinguished(void **state)
{
	struct buffer text = pattern(10);
	struct output output;
	struct error error = { 0 };
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	output = (struct output){ .fd = ends[1] };
	assert_int_equal(output_write(&output, &text, &error), -EPIPE);
	assert_int_equal(error.kind, ERROR_NONE);
	close(ends[1]);
	buffer_free(&text);
}

/* Nobody reads the pipe; the signal is pending, as for the tracer, which takes its signals elsewhere. */
static void test_stuck_reader_does_not_keep_the_tracer(void **state)
{
	struct buffer text = pattern(BIG);
	struct output output;
	struct error error = { 0 };
	sigset_t term, before;
	int ends[2], number;

	(void)state;
	sigemptyset(&term);
	sigaddset(&term, end_signals_number());
	assert_int_equal(sigprocmask(SIG_BLOCK, &term, &before), 0);
	assert_int_equal(raise(end_signals_number()), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	output = (struct output){ .fd = ends[1] };
	assert_int_equal(output_write(&output, &text, &error), -EINTR);
	assert_int_equal(error.kind, ERROR_PERMISSION);
	assert_int_equal(sigwait(&term, &number), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	close(ends[0]);
	close(ends[1]);
	buffer_free(&text);
}

/* /dev/full fails every write with ENOSPC: see full(4). */
static void test_full_disk_is_reported(void **state)
{
	struct buffer text = pattern(10);
	struct output output = { .fd = open("/dev/full", O_WRONLY | O_CLOEXEC) };
	struct error error = { 0 };

	(void)state;
	assert_true(output.fd >= 0);
	assert_int_equal(output_write(&output, &text, &error), -ENOSPC);
	assert_int_equal(error.kind, ERROR_PERMISSION);
	assert_non_null(strstr(error.text, strerror(ENOSPC)));
	assert_non_null(strstr(error.text, "standard output"));
	close(output.fd);
	buffer_free(&text);
}

static void check_content(const char *path, const char *wanted)
{
	char got[64];
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(got, 1, sizeof(got) - 1, file);
	got[length] = '\0';
	fclose(file);
	assert_string_equal(got, wanted);
}

static void test_reports_follow_each_other(void **state)
{
	struct folder *folder = *state;
	struct buffer text = { 0 };
	struct output output;
	struct error error = { 0 };
	struct stat status;
	mode_t mask = umask(0);

	assert_int_equal(output_open(&output, folder->file, &error), 0);
	buffer_append_string(&text, "one\n");
	assert_int_equal(output_write(&output, &text, &error), 0);
	/* Nothing is held back until the next report or the end. */
	check_content(folder->file, "one\n");
	buffer_clear(&text);
	buffer_append_string(&text, "two\n");
	assert_int_equal(output_write(&output, &text, &error), 0);
	assert_int_equal(output_close(&output, &error), 0);
	check_content(folder->file, "one\ntwo\n");
	assert_int_equal(stat(folder->file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	umask(mask);

	/* The next run starts anew. */
	assert_int_equal(output_open(&output, folder->file, &error), 0);
	assert_int_equal(output_write(&output, &text, &error), 0);
	assert_int_equal(output_close(&output, &error), 0);
	check_content(folder->file, "two\n");
	assert_int_equal(output_close(&output, &error), 0);
	buffer_free(&text);
}

static void test_link_is_refused(void **state)
{
	struct folder *folder = *state;
	struct output output = { .fd = 77 };
	struct error error = { 0 };
	FILE *file = fopen(folder->file, "w");

	assert_non_null(file);
	fputs("precious", file);
	fclose(file);
	assert_int_equal(symlink(folder->file, folder->link), 0);
	assert_int_equal(output_open(&output, folder->link, &error), -ELOOP);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_non_null(strstr(error.text, "symbolic link"));
	assert_int_equal(output.fd, 77);
	check_content(folder->file, "precious");
}

static void check_refused(const struct scratch *scratch, const char *name, const char *word)
{
	char *path = scratch_path(scratch, name);
	struct error error = { 0 };
	struct output output;

	assert_true(output_open(&output, path, &error) < 0);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_non_null(strstr(error.text, path));
	/* The kernel itself may be set to refuse it. */
	if (!strstr(error.text, word) && !strstr(error.text, "Permission denied"))
		fail_msg("%s", error.text);
	free(path);
}

static void check_taken(const struct scratch *scratch, const char *name)
{
	char *path = scratch_path(scratch, name);
	struct error error = { 0 };
	struct output output;
	struct stat status;

	if (output_open(&output, path, &error))
		fail_msg("%s", error.text);
	assert_int_equal(output_close(&output, &error), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 0);
	free(path);
}

static void test_other_names_are_refused(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "file", "content", 7, 0644);

	(void)state;
	assert_int_equal(scratch_run("cd %s && ln file other", scratch.path), 0);
	check_refused(&scratch, "other", "other names");
	assert_int_equal(
		scratch_run("cd %s && test $(cat file) = content && rm other", scratch.path), 0);
	check_taken(&scratch, "file");
	free(path);
	scratch_remove(&scratch);
}

/* In a folder like /tmp another user may have put a file, a FIFO or a link where the report is to be. */
static void test_prepared_files_are_refused(void **state)
{
	struct scratch scratch = scratch_make();

	(void)state;
	if (geteuid() == 0) {
		assert_int_equal(
			scratch_run("cd %s && mkdir shared own real && chmod 1777 shared && "
				    "chown 1000 own && echo content | tee shared/file own/file "
				    "shared/mine > real/file && mkfifo shared/fifo && "
				    "ln -s ../real shared/folder && ln -s ../real own/folder && "
				    "ln -s ../own/folder shared/link2 && ln -s . real/here && "
				    "chmod 666 shared/file shared/fifo && "
				    "chown -h 1000 shared/f* own/*",
				    scratch.path),
			0);
		check_refused(&scratch, "shared/file", "another user");
		check_refused(&scratch, "shared/fifo", "");
		check_refused(&scratch, "shared/folder/file", "symbolic link");
		assert_int_equal(scratch_run("cd %s && test $(cat shared/file) = content && "
					     "test $(cat real/file) = content",
					     scratch.path),
				 0);
		/* The owner of a folder may have files and links there, and root everywhere. */
		check_taken(&scratch, "shared/mine");
		check_taken(&scratch, "own/file");
		check_taken(&scratch, "own/folder/here//./here/file");
		check_taken(&scratch, "shared/link2/../real/new");
	}
	scratch_remove(&scratch);
	if (geteuid())
		skip();
}

static void test_fifo_without_reader_is_refused(void **state)
{
	struct folder *folder = *state;
	struct output output = { .fd = 77 };
	struct error error = { 0 };
	int reader;

	assert_int_equal(mkfifo(folder->file, 0600), 0);
	assert_int_equal(output_open(&output, folder->file, &error), -ENXIO);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_int_equal(output.fd, 77);
	reader = open(folder->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(output_open(&output, folder->file, &error), 0);
	assert_int_equal(output_close(&output, &error), 0);
	close(reader);
}

static void test_missing_folder_is_reported(void **state)
{
	struct folder *folder = *state;
	char *path = memory_format("%s/none/report", folder->path);
	struct output output = { .fd = 77 };
	struct error error = { 0 };

	assert_int_equal(output_open(&output, path, &error), -ENOENT);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_non_null(strstr(error.text, path));
	assert_int_equal(output.fd, 77);
	free(path);
}

static void test_dash_is_stdout(void **state)
{
	struct output output = { .fd = -1 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(output_open(&output, "-", &error), 0);
	assert_int_equal(output.fd, STDOUT_FILENO);
	/* Closing leaves it open: cmocka still writes there. */
	assert_int_equal(output_close(&output, &error), 0);
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

static void test_names_expand(void **state)
{
	static const int pids[] = { 4242, 7 };
	struct output_names names = { pids, 2, 1700000000, "web/1" };
	static const struct {
		const char *template, *wanted;
	} rows[] = {
		{ "plain", "plain" },
		{ "%p", "4242-7" },
		{ "leak-%p-%t.%h", "leak-4242-7-1700000000.web_1" },
		{ "100%%", "100%" },
		{ "%%p", "%p" },
		{ "%p%p", "4242-74242-7" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *name = output_expand(rows[i].template, &names);

		assert_true(output_check_template(rows[i].template, NULL));
		assert_string_equal(name, rows[i].wanted);
		free(name);
	}
	names.host = "";
	{
		char *name = output_expand("%h", &names);

		assert_string_equal(name, "");
		free(name);
	}
}

static void test_bad_names_are_refused(void **state)
{
	static const char *const bad[] = { "", "%", "a%", "%x", "%p%", "%%%", "%P" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = { 0 };

		assert_false(output_check_template(bad[i], &error));
		assert_int_equal(error.kind, ERROR_USAGE);
		assert_non_null(strstr(error.text, "-o/--output"));
	}
}

/* A terminal's own size comes first; COLUMNS is for what has none, and counts only as a number. */
static void test_size(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
	} variables[] = {
		{ NULL, 0 },  { "132", 132 }, { "0", 0 },	  { "", 0 },	  { "wide", 0 },
		{ "-80", 0 }, { "80x", 0 },   { "65535", 65535 }, { "65536", 0 }, { "1e3", 0 },
	};
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), ends[2];
	struct winsize size = { .ws_row = 24, .ws_col = 100 };
	struct output to_terminal = { .fd = terminal }, to_pipe;
	size_t columns, lines, i;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	to_pipe = (struct output){ .fd = ends[1] };
	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		output_size(&to_pipe, variables[i].text, &columns, &lines);
		assert_int_equal(columns, variables[i].columns);
		assert_int_equal(lines, 0);
	}
	assert_true(terminal >= 0);
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
	output_size(&to_terminal, "132", &columns, &lines);
	assert_int_equal(columns, 100);
	assert_int_equal(lines, 24);
	size = (struct winsize){ 0 };
	assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
	output_size(&to_terminal, "132", &columns, &lines);
	assert_int_equal(columns, 132);
	close(terminal);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe_gets_everything),
		cmocka_unit_test(test_nonblocking_pipe_gets_everything),
		cmocka_unit_test(test_closed_pipe_is_distinguished),
		cmocka_unit_test(test_stuck_reader_does_not_keep_the_tracer),
		cmocka_unit_test(test_full_disk_is_reported),
		cmocka_unit_test_setup_teardown(test_reports_follow_each_other, folder_make,
						folder_remove),
		cmocka_unit_test_setup_teardown(test_link_is_refused, folder_make, folder_remove),
		cmocka_unit_test(test_other_names_are_refused),
		cmocka_unit_test(test_prepared_files_are_refused),
		cmocka_unit_test_setup_teardown(test_fifo_without_reader_is_refused, folder_make,
						folder_remove),
		cmocka_unit_test_setup_teardown(test_missing_folder_is_reported, folder_make,
						folder_remove),
		cmocka_unit_test(test_dash_is_stdout),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_names_expand),
		cmocka_unit_test(test_bad_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
