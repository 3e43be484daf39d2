/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments and titles of processes. The truth is what /proc/PID/cmdline has of the same process. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/command_text.h"

static void check(const char *bytes, size_t size, size_t arguments, const char *expected)
{
	/* Of exactly that size, so that a read beyond it is found. */
	char *copy = memory_alloc(size, 1);
	char *text;

	memcpy(copy, bytes, size);
	text = command_text_parse(copy, size, arguments);
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
	free(copy);
}

#define BYTES(text) (text), sizeof(text) - 1

static void test_parse(void **state)
{
	(void)state;
	check(BYTES("ruby\0-v\0"), 8, "ruby -v");
	check(BYTES("ruby\0\0x\0HOME=/"), 8, "ruby  x");
	check(BYTES("ruby\0-v\0HOME=/\0"), 8, "ruby -v");
	/* A title that goes on into the environment, and ends there. */
	check(BYTES("puma: worker 1 [shop]\0=/\0"), 8, "puma: worker 1 [shop]");
	check(BYTES("puma: worker 1 [shop]"), 8, "puma: worker 1 [shop]");
	/* A shorter one, with what it has left. */
	check(BYTES("nginx: w\0\0\0\0\0\0\0\0"), 16, "nginx: w");
	check(BYTES("nginx: w        "), 16, "nginx: w");
	/* Only the first part of the arguments could be read. */
	check(BYTES("ruby\0-v"), 100, "ruby -v");
	check(BYTES("\0\0\0\0"), 4, NULL);
	check(BYTES("a"), 0, NULL);
	check(BYTES("\xff\xfe\n\0"), 4, "\xff\xfe\n");
}

/* As the kernel has it, with blanks for the NULs between arguments. */
static char *read_cmdline(pid_t pid)
{
	char *path = memory_format("/proc/%d/cmdline", (int)pid), text[256];
	FILE *file = fopen(path, "re");
	size_t size = fread(text, 1, sizeof(text) - 1, file), i;

	fclose(file);
	free(path);
	for (i = 0; i + 1 < size; i++)
		if (!text[i])
			text[i] = ' ';
	text[size] = '\0';
	return memory_copy_string(text);
}

static void test_live(void **state)
{
	char *expected, *text;
	int ready[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ready, 02000000), 0);
	pid = fork();
	if (pid == 0) {
		execlp("sleep", "some name", "100", "1", (char *)NULL);
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &(char){ 0 }, 1), 0);
	close(ready[0]);
	/* Its arguments are in its memory a moment later. */
	while (!(text = command_text_read(pid)))
		usleep(1000);
	expected = read_cmdline(pid);
	assert_string_equal(text, expected);
	assert_string_equal(text, "some name 100 1");
	free(text);
	free(expected);
	kill(pid, SIGKILL);
	/* It has no memory any more. */
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_null(command_text_read(pid));
	waitpid(pid, NULL, 0);
	assert_null(command_text_read(pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
