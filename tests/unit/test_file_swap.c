/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file takes the place of another one when it is whole: what the folder has, as ls and cat show it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "system/file_swap.h"
#include "unit/scratch.h"

#define TRIES 180000

static bool folder_has(const struct scratch *scratch, const char *wanted)
{
	struct buffer text = { 0 };
	char command[256];
	bool same;

	snprintf(command, sizeof(command), "cd '%s' && ls -A && cat *", scratch->path);
	scratch_output(&text, command);
	same = !strcmp(text.data, wanted);
	buffer_free(&text);
	return same;
}

/* Another process changes it. */
static void wait_for_folder(const struct scratch *scratch, const char *wanted)
{
	int tries;

	for (tries = 0; tries < TRIES && !folder_has(scratch, wanted); tries++)
		usleep(1000);
	assert_true(folder_has(scratch, wanted));
}

static void write_new(struct file_swap *swap, const char *path)
{
	assert_int_equal(file_swap_open(swap, path, NULL), 0);
	assert_int_equal(write(swap->fd, "new\n", 4), 4);
}

static void test_commit(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_path(&scratch, "file");
	struct file_swap swap;
	struct stat status;

	(void)state;
	write_new(&swap, path);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(file_swap_commit(&swap), 0);
	assert_true(folder_has(&scratch, "file\nnew\n"));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	close(swap.fd);
	file_swap_close(&swap);
	scratch_put(&scratch, "file", "old\n");
	write_new(&swap, path);
	assert_int_equal(file_swap_commit(&swap), 0);
	close(swap.fd);
	file_swap_close(&swap);
	assert_true(folder_has(&scratch, "file\nnew\n"));
	free(path);
	scratch_remove(&scratch);
}

static void test_no_commit(void **state)
{
	struct scratch scratch = scratch_make();
	struct file_swap swap, none = FILE_SWAP_NONE;
	char *path;

	(void)state;
	scratch_put(&scratch, "file", "old\n");
	path = scratch_path(&scratch, "file");
	write_new(&swap, path);
	close(swap.fd);
	file_swap_close(&swap);
	wait_for_folder(&scratch, "file\nold\n");
	file_swap_close(&none);
	free(path);
	scratch_remove(&scratch);
}

static void test_caller_is_killed(void **state)
{
	struct scratch scratch = scratch_make();
	struct file_swap swap;
	char *path, byte;
	int ready[2];
	pid_t pid;

	(void)state;
	scratch_put(&scratch, "file", "old\n");
	path = scratch_path(&scratch, "file");
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		write_new(&swap, path);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_false(folder_has(&scratch, "file\nold\n"));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	wait_for_folder(&scratch, "file\nold\n");
	close(ready[0]);
	close(ready[1]);
	free(path);
	scratch_remove(&scratch);
}

static void check_refused(const struct scratch *scratch, const char *name, int code)
{
	char *path = scratch_path(scratch, name);
	struct file_swap swap;

	assert_int_equal(file_swap_open(&swap, path, NULL), code);
	free(path);
}

/* What an output file may not be, this one may not either; what is no regular file is written to. */
static void test_other_files(void **state)
{
	struct scratch scratch = scratch_make();
	struct file_swap swap;

	(void)state;
	assert_int_equal(
		scratch_run("cd '%s' && ln -s nowhere link && echo two >one && ln one two && "
			    "mkdir folder",
			    scratch.path),
		0);
	check_refused(&scratch, "link", -ELOOP);
	check_refused(&scratch, "two", -EPERM);
	check_refused(&scratch, "folder", -EISDIR);
	check_refused(&scratch, "nowhere/file", -ENOENT);
	scratch_remove(&scratch);
	assert_int_equal(file_swap_open(&swap, "/dev/null", NULL), 0);
	assert_int_equal(write(swap.fd, "x", 1), 1);
	assert_int_equal(file_swap_commit(&swap), 0);
	close(swap.fd);
	file_swap_close(&swap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit),
		cmocka_unit_test(test_no_commit),
		cmocka_unit_test(test_caller_is_killed),
		cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
