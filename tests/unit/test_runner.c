/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that makes files and runs a command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

#include "system/runner.h"
#include "unit/scratch.h"

#define PATIENCE_MS 180000

static const char *const reasons[] = { "first", "second" };

/* Of the runner that was started last: its process ends with it, also where a test has failed. */
static int last_socket = -1;

/* A runner for a command that begins in the folder. */
static struct runner start(const struct scratch *scratch, const char *command, bool makes_files)
{
	struct spawn_signals signals;
	char *path = scratch_path(scratch, "a file");
	char *line = memory_format("cd '%s' && %s", scratch->path, command);
	struct runner_options options = { .command = line,
					  .path = path,
					  .makes_files = makes_files,
					  .reasons = reasons,
					  .reason_count = 2,
					  .signals = &signals };
	struct runner runner = { .socket = -1 };

	spawn_signals_save(&signals);
	assert_int_equal(runner_start(&runner, &options, NULL), 0);
	last_socket = runner.socket;
	/* The process has its own. */
	free(path);
	free(line);
	return runner;
}

static int run(struct runner *runner, size_t reason)
{
	int status = -1;

	assert_int_equal(runner_run(runner, reason), 0);
	assert_int_equal(runner_take_end(runner, PATIENCE_MS, &status), 1);
	return status;
}

/* What the command has written to "out". */
static void check_output(const struct scratch *scratch, const char *wanted, ...)
{
	char *path = scratch_path(scratch, "out"), text[4096] = "", expected[4096];
	FILE *file = fopen(path, "re");
	va_list arguments;

	va_start(arguments, wanted);
	vsnprintf(expected, sizeof(expected), wanted, arguments);
	va_end(arguments);
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, expected);
	free(path);
}

static void write_file(struct runner *runner, uint32_t wanted, const char *text)
{
	uint32_t number = 0;
	int fd = runner_make_file(runner, &number, NULL);

	assert_true(fd >= 0);
	assert_int_equal(number, wanted);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Files that are there stay. */
static void test_files(void **state)
{
	struct scratch scratch = scratch_make();
	struct runner runner = start(
		&scratch,
		"echo \"$1 $TRACER_REPORT $TRACER_TRIGGER $#\" >> out && cat \"$1\" >> out", true);

	(void)state;
	free(scratch_file(&scratch, "a file.2", "old", 3, 0644));
	write_file(&runner, 1, "one\n");
	assert_int_equal(run(&runner, 0), 0);
	check_output(&scratch, "%s/a file.1 %s/a file.1 first 1\none\n", scratch.path,
		     scratch.path);
	write_file(&runner, 3, "three\n");
	assert_int_equal(scratch_run("rm '%s/out'", scratch.path), 0);
	assert_int_equal(run(&runner, 1), 0);
	check_output(&scratch, "%s/a file.3 %s/a file.3 second 1\nthree\n", scratch.path,
		     scratch.path);
	assert_int_equal(scratch_run("test \"$(cat '%s/a file.2')\" = old", scratch.path), 0);
	assert_int_equal(scratch_run("test \"$(stat -c %%a '%s/a file.1')\" = 600", scratch.path),
			 0);
	runner_close(&runner);
	scratch_remove(&scratch);
}

/* It has no descriptor of its starter's, no standard input, a session of its own, and no capability that the tracer has no use for. */
static void test_what_the_command_has(void **state)
{
	struct scratch scratch = scratch_make();
	int open_here = open("/dev/null", O_RDONLY);
	/* By exec: while a shell forks, it blocks signals itself. */
	struct runner runner =
		start(&scratch,
		      "case $TRACER_TRIGGER in first) exec grep "
		      "'^\\(NoNewPrivs\\|SigBlk\\|CapAmb\\|CapInh\\):' "
		      "/proc/self/status > out;; esac; sed -n 's/^CapEff:[[:space:]]*/0x/p' "
		      "/proc/self/status > effective; "
		      "read line; echo \"read $line\" > out; readlink /proc/$$/fd/0 >> out; "
		      "test \"$(readlink /proc/$$/fd/1)\" = \"$(readlink /proc/$$/fd/2)\" && echo "
		      "same >> out; "
		      "exec ls /proc/self/fd >> out",
		      false);

	(void)state;
	assert_true(open_here >= 0);
	assert_int_equal(run(&runner, 0), 0);
	check_output(&scratch, "SigBlk:\t0000000000000000\nCapInh:\t0000000000000000\n"
			       "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n");
	assert_int_equal(run(&runner, 1), 0);
	close(open_here);
	/* The last descriptor is the folder that is listed. */
	check_output(&scratch, "read \n/dev/null\nsame\n0\n1\n2\n3\n");
	/* BPF, PERFMON, SYS_PTRACE, DAC_READ_SEARCH, CHECKPOINT_RESTORE. */
	assert_int_equal(
		scratch_run(
			"test $(( $(cat '%s/effective') & ~(1<<39|1<<38|1<<19|1<<2|1<<40) )) = 0",
			scratch.path),
		0);
	runner_close(&runner);
	scratch_remove(&scratch);
}

static void test_statuses(void **state)
{
	struct scratch scratch = scratch_make();
	struct runner runner = start(
		&scratch, "case $TRACER_TRIGGER in first) exit 3;; *) kill -9 $$;; esac", false);
	uint32_t number;
	int status;

	(void)state;
	status = run(&runner, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	status = run(&runner, 1);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* No such reason: nothing is run. */
	assert_int_equal(runner_run(&runner, 2), 0);
	assert_int_equal(runner_take_end(&runner, PATIENCE_MS, &status), -EINVAL);
	/* It makes no files: it ends. */
	assert_true(runner_make_file(&runner, &number, NULL) < 0);
	runner_close(&runner);
	scratch_remove(&scratch);
}

/* A file that is not there cannot be run on; where none can be made, that is an error. */
static void test_no_file(void **state)
{
	struct scratch scratch = scratch_make();
	struct runner runner = start(&scratch, "true", true);
	struct error error = { 0 };
	uint32_t number;
	int status;

	(void)state;
	assert_int_equal(runner_run(&runner, 0), 0);
	assert_int_equal(runner_take_end(&runner, PATIENCE_MS, &status), -EINVAL);
	scratch_remove(&scratch);
	assert_int_equal(runner_make_file(&runner, &number, &error), -ENOENT);
	assert_non_null(strstr(error.text, "No such file"));
	runner_close(&runner);
}

/* It runs as long as the command does, and the caller is not held up. */
static void test_while_it_runs(void **state)
{
	struct scratch scratch = scratch_make();
	struct runner runner = start(&scratch, "cat fifo > /dev/null", false);
	char *fifo = scratch_path(&scratch, "fifo");
	int status, fd;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(runner_run(&runner, 0), 0);
	assert_int_equal(runner_take_end(&runner, 0, &status), 0);
	fd = open(fifo, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(runner_take_end(&runner, 0, &status), 0);
	close(fd);
	assert_int_equal(runner_take_end(&runner, PATIENCE_MS, &status), 1);
	assert_int_equal(status, 0);
	runner_close(&runner);
	free(fifo);
	scratch_remove(&scratch);
}

/* It ends with who has started it. */
static void test_end(void **state)
{
	struct scratch scratch = scratch_make();
	struct runner runner = start(&scratch, "true", false);
	int status;

	(void)state;
	runner_close(&runner);
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	scratch_remove(&scratch);
}

/* Each test's process has ended before the next one begins. */
static int reap(void **state)
{
	(void)state;
	close(last_socket);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_files, reap),
		cmocka_unit_test_teardown(test_what_the_command_has, reap),
		cmocka_unit_test_teardown(test_statuses, reap),
		cmocka_unit_test_teardown(test_no_file, reap),
		cmocka_unit_test_teardown(test_while_it_runs, reap),
		cmocka_unit_test_teardown(test_end, reap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
