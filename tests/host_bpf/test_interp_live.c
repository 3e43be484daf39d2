/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The readers and namers of interpreters' frames on real interpreters. A script prints for each of its threads which
 * frames the interpreter sees (caller_locations; sys._getframe; debug_backtrace) and stands still; this test reads the
 * frames out of the process's memory and must find the same ones. Thread pointers come from ptrace.
 *
 * TEST_RUBY, TEST_PYTHON and TEST_PHP name other interpreters than those of the machine. What is not installed is skipped.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>

#include "interp_world.h"
#include "interp_child.h"

#define LINES_MAX 4096
#define INTERP_DATA "tests/data/interp/"

static struct child child;
static struct target_memory memory = { child_read, &child };
static struct interpreter interpreter;

static bool read_child(void *to, size_t size, uint64_t address)
{
	return child_read(&child, address, to, size);
}

/* A frame as the script prints it: "file:line:function". */
struct printed {
	char *lines[LINES_MAX]; /* innermost first */
	size_t count;
};

/* What the interpreter lists though it has no frame of its own: functions of C, with the place of their caller. */
static bool is_native(const char *line)
{
	const char *function = strrchr(line, ':');

	return function && !strncmp(function, ":c-", 3);
}

/* Returns whether the next frame is left out of backtraces. */
static bool frame_text(const struct interp_frame *frame, char *text, size_t size)
{
	struct interp_name name = { .covers_next = false };

	if (!interpreter_name(&interpreter, &memory, frame, interp_world_copy(frame), &name))
		snprintf(text, size, "no such code");
	else
		snprintf(text, size, "%s:%u:%s", name.file, name.line, name.function);
	return name.covers_next;
}

/* The frames of a thread; false if it has none. */
static bool walk_thread(uint64_t thread_pointer)
{
	interp_world_start();
	shim.on_read = read_child;
	world.process = interpreter.process;
	interp_walk_stack(&world.walk, &world.process, thread_pointer, INTERP_FRAMES_MAX);
	while (interp_describe_one(&world.walk))
		;
	return world.walk.record.count > 0;
}

/* Frames of the interpreter's own library code: some versions hide them. */
static bool is_hidden(const char *text)
{
	return !strncmp(text, "<internal:", 10);
}

/* Do the frames of the current walk match what was printed? Prints the first difference if `loud`. */
static bool frames_match(const struct printed *printed, bool loud)
{
	char text[INTERP_FILE_MAX + INTERP_FUNCTION_MAX + 16];
	bool covers = false;
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < world.walk.record.count; i++) {
		bool covered = covers;

		covers = frame_text(&world.walk.record.frames[i], text, sizeof(text));
		if (covered)
			continue;
		while (at < printed->count && strcmp(printed->lines[at], text) &&
		       is_native(printed->lines[at]))
			at++;
		if (at < printed->count && !strcmp(printed->lines[at], text)) {
			at++;
			continue;
		}
		if (is_hidden(text))
			continue;
		if (loud)
			print_message("frame %u is %s, not %s\n", i, text,
				      at < printed->count ? printed->lines[at] : "(none)");
		return false;
	}
	while (at < printed->count && is_native(printed->lines[at]))
		at++;
	if (at < printed->count && loud)
		print_message("missing: %s\n", printed->lines[at]);
	return at == printed->count && world.walk.record.end == INTERP_END_ROOT;
}

/* Cut "stack\n" line "\n" ... into stacks. */
static size_t split_stacks(char *said, struct printed *stacks, size_t max)
{
	size_t count = 0;
	char *line, *rest;

	for (line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!strcmp(line, "ready"))
			break;
		if (!strcmp(line, "stack") && count < max)
			stacks[count++].count = 0;
		else if (count && stacks[count - 1].count < LINES_MAX)
			stacks[count - 1].lines[stacks[count - 1].count++] = line;
	}
	return count;
}

static int find_interpreter(void)
{
	int code = -EAGAIN, i;

	/* It may not be quite in its last system call yet. */
	for (i = 0; i < 5000 && code; i++) {
		code = interpreter_find(&child.file, child.start, &memory, child.ranges,
					child.range_count, &interpreter);
		if (code)
			usleep(20000);
	}
	return code;
}

/* Every stack that was printed must be that of some thread. */
static void check_stacks(struct printed *stacks, size_t count)
{
	size_t i, thread;

	for (i = 0; i < count; i++) {
		for (thread = 0; thread < child.thread_count; thread++)
			if (walk_thread(child.thread_pointers[thread]) &&
			    frames_match(&stacks[i], false))
				break;
		if (thread < child.thread_count)
			continue;
		for (thread = 0; thread < child.thread_count; thread++)
			if (walk_thread(child.thread_pointers[thread]))
				frames_match(&stacks[i], true);
		fail_msg("no thread has stack %zu of %zu: %s", i + 1, count, stacks[i].lines[0]);
	}
}

/* Returns 1. */
static unsigned int check_wrong_layout(const struct interp_file *wrong)
{
	struct interpreter found;

	assert_int_not_equal(interpreter_find(wrong, child.start, &memory, child.ranges,
					      child.range_count, &found),
			     0);
	return 1;
}

/* Layouts of versions that are laid out otherwise must all be refused: wrong frames would be worse than none. */
static void check_wrong_layouts(void)
{
	static const char *const ruby[] = { "2.7.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0" };
	static const char *const php[] = { "8.0", "8.1", "8.2", "8.3", "8.4" };
	const char *own = child.file.version;
	struct interp_file wrong = child.file;
	unsigned int tried = 0, minor;
	size_t i;

	for (i = 0; wrong.kind == INTERP_RUBY && i < sizeof(ruby) / sizeof(ruby[0]); i++) {
		strcpy(wrong.version, ruby[i]);
		if (strncmp(own, ruby[i], 3) != 0 &&
		    (strncmp(own, "3.4", 3) != 0 || strncmp(ruby[i], "3.3", 3) != 0))
			tried += check_wrong_layout(&wrong);
	}
	for (minor = 10; wrong.kind == INTERP_PYTHON && minor <= 13; minor++) {
		wrong.minor = minor;
		if (minor != child.file.minor && (minor > 10 || child.file.minor > 10))
			tried += check_wrong_layout(&wrong);
	}
	for (i = 0; wrong.kind == INTERP_PHP && i < sizeof(php) / sizeof(php[0]); i++) {
		strcpy(wrong.version, php[i]);
		if (strcmp(own, php[i]) != 0 && (own[2] > '1' || php[i][2] > '1'))
			tried += check_wrong_layout(&wrong);
	}
	assert_true(tried >= 3);
}

/* Where a thread's stack ends at present; 0 = the kernel does not show it. */
static uint64_t stack_pointer(pid_t thread)
{
	char path[64], text[256], *at = text;
	uint64_t sp = 0;
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/syscall", thread);
	file = fopen(path, "r");
	if (!file)
		return 0;
	/* The number of the system call, six arguments, the stack pointer. */
	if (fgets(text, sizeof(text), file)) {
		for (i = 0; i < 7 && at; i++)
			at = strchr(at + !!i, ' ');
		sp = at ? strtoull(at, NULL, 16) : 0;
	}
	fclose(file);
	return sp;
}

/* How many words of a stack lead into the loop? */
static size_t count_returns(uint64_t sp, const struct interpreter *found)
{
	uint64_t word, at;
	size_t count = 0;

	for (at = sp; at < sp + (1u << 20) && child_read(&child, at, &word, sizeof(word)); at += 8)
		count += word > found->loop_start && word < found->loop_end;
	return count;
}

/*
 * The function that runs Ruby code, found without a symbol: the stacks of the threads must lead back to it, once at least for
 * each time that the interpreter's frames say that it was entered.
 */
static void check_loop(void)
{
	struct interp_file unnamed = child.file;
	size_t thread, entries, total = 0;
	struct interpreter found;
	uint32_t i;

	if (unnamed.kind != INTERP_RUBY)
		return;
	unnamed.loop = unnamed.loop_size = 0;
	assert_int_equal(interpreter_find(&unnamed, child.start, &memory, child.ranges,
					  child.range_count, &found),
			 0);
	assert_true(found.loop_start < found.loop_end);
	for (thread = 0; thread < child.thread_count; thread++) {
		uint64_t sp = stack_pointer(child.threads[thread]);

		if (!sp || !walk_thread(child.thread_pointers[thread]))
			continue;
		for (i = 0, entries = 0; i < world.walk.record.count; i++)
			entries += !!(world.walk.record.frames[i].flags & INTERP_FRAME_ENTRY);
		assert_true(count_returns(sp, &found) >= entries);
		total += entries;
	}
	assert_true(total > 0);
	print_message("%zu calls of the function at 0x%" PRIx64 "\n", total,
		      found.loop_start - child.start);
}

static void check_script(char *const arguments[])
{
	static struct printed stacks[CHILD_THREADS_MAX];
	struct buffer said = { 0 };
	size_t count;

	assert_true(child_start(&child, arguments));
	if (!child_read_ready(&child, &said)) {
		child_end(&child);
		buffer_free(&said);
		skip();
	}
	assert_true(child_find_file(&child));
	child_find_threads(&child);
	assert_int_equal(find_interpreter(), 0);
	count = split_stacks(said.data, stacks, CHILD_THREADS_MAX);
	assert_true(count > 0);
	print_message("%s: %zu stacks, the first with %zu frames\n", child.file.version, count,
		      stacks[0].count);
	check_stacks(stacks, count);
	check_wrong_layouts();
	check_loop();
	child_end(&child);
	buffer_free(&said);
}

static const char *environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value ? value : otherwise;
}

static void check_command(const char *command, const char *script)
{
	char line[4096];
	char shell[] = "sh", option[] = "-c";
	char *arguments[] = { shell, option, line, NULL };

	snprintf(line, sizeof(line), "exec %s " INTERP_DATA "%s", command, script);
	check_script(arguments);
}

static void test_ruby(void **state)
{
	(void)state;
	check_command(environment("TEST_RUBY", "ruby"), "stacks.rb");
}

static void test_python(void **state)
{
	(void)state;
	check_command(environment("TEST_PYTHON", "/usr/bin/python3"), "stacks.py");
}

/* One thread only: one stack, with calls of all kinds. */
static void test_php(void **state)
{
	(void)state;
	check_command(environment("TEST_PHP", "php"), "stacks.php");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ruby),
		cmocka_unit_test(test_python),
		cmocka_unit_test(test_php),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
