/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that decodes the targets' files: it may be killed, stopped or crash, and must have no privileges. What it
 * has is read from /proc; the names to compare with are those of the source, program.c.
 */
#include "symbolizer_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void begin(struct fixture *fixture, int timeout_ms)
{
	struct symbolizer_options options = { .timeout_ms = timeout_ms };

	fixture_begin(fixture, &options);
	fixture_run(fixture, "gcc -O2 -g program.c -o program && cp program other");
}

static void assert_named(struct fixture *fixture, uint32_t module, const char *symbol)
{
	const struct symbol_list *names = fixture_lookup_symbol(fixture, module, "program", symbol);

	assert_non_null(names->items[names->count - 1].function);
	assert_string_equal(names->items[names->count - 1].function, symbol);
}

static void assert_unnamed(struct fixture *fixture, uint32_t module, const char *symbol)
{
	const struct symbol_list *names = fixture_lookup_symbol(fixture, module, "program", symbol);

	assert_int_equal(names->count, 1);
	assert_null(names->items[0].function);
	assert_null(names->items[0].file);
}

/* The value of a field of /proc/PID/status. */
static void read_status(pid_t pid, const char *field, char value[256])
{
	char path[64], line[256];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "r");
	assert_non_null(status);
	value[0] = '\0';
	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
			snprintf(value, 256, "%s", line + strlen(field) + 2);
	fclose(status);
	value[strcspn(value, "\n")] = '\0';
}

static bool is_zombie(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "r");
	if (!stat)
		return true;
	if (fscanf(stat, "%*d %*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(stat);
	return state == 'Z';
}

static pid_t parent_of(pid_t pid)
{
	char value[256];

	read_status(pid, "PPid", value);
	return (pid_t)atoi(value);
}

static void test_killed_between_lookups(void **state)
{
	struct fixture fixture;
	enum log_level level;
	uint32_t module;
	pid_t first;

	(void)state;
	begin(&fixture, 0);
	assert_int_equal(fixture_worker_pid(&fixture), 0);
	module = fixture_module(&fixture, "program");
	assert_named(&fixture, module, "keep");
	first = fixture_worker_pid(&fixture);
	assert_true(first > 0);
	assert_int_equal(kill(first, SIGKILL), 0);
	assert_named(&fixture, module, "hidden_one");
	assert_true(fixture_worker_pid(&fixture) > 0);
	assert_int_not_equal(fixture_worker_pid(&fixture), first);
	assert_named(&fixture, module, "main");
	assert_null(symbolizer_take_complaint(fixture.symbolizer, &level));
	fixture_end(&fixture);
}

/* A look-up that takes too long costs the names of its module, and nothing else. */
static void test_stopped(void **state)
{
	uint32_t module, other;
	struct fixture fixture;
	enum log_level level;
	char *complaint;
	pid_t first;

	(void)state;
	begin(&fixture, 200);
	module = fixture_module(&fixture, "program");
	other = fixture_module(&fixture, "other");
	assert_named(&fixture, module, "keep");
	first = fixture_worker_pid(&fixture);
	assert_int_equal(kill(first, SIGSTOP), 0);
	assert_unnamed(&fixture, module, "hidden_one");
	complaint = symbolizer_take_complaint(fixture.symbolizer, &level);
	assert_non_null(complaint);
	assert_non_null(strstr(complaint, fixture.modules.items[module]->path));
	assert_int_equal(level, LOG_NOTICE);
	assert_int_equal(symbolizer_unread(fixture.symbolizer), 1);
	free(complaint);
	assert_int_equal(kill(first, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_named(&fixture, other, "hidden_one");
	assert_unnamed(&fixture, module, "main");
	assert_named(&fixture, module, "keep");
	assert_null(symbolizer_take_complaint(fixture.symbolizer, &level));
	fixture_end(&fixture);
}

/* A file that shrinks while it is mapped ends its reader with SIGBUS. */
static void test_crash(void **state)
{
	uint32_t module, other;
	struct fixture fixture;
	pid_t first;
	char *path;

	(void)state;
	begin(&fixture, 0);
	fixture_run(&fixture, "cp program shrinking");
	module = fixture_module(&fixture, "shrinking");
	other = fixture_module(&fixture, "other");
	assert_named(&fixture, module, "keep");
	first = fixture_worker_pid(&fixture);
	path = fixture_path(&fixture, "shrinking");
	assert_int_equal(truncate(path, 0), 0);
	free(path);
	assert_unnamed(&fixture, module, "exported_one");
	assert_int_not_equal(fixture_worker_pid(&fixture), first);
	assert_named(&fixture, other, "exported_one");
	assert_named(&fixture, module, "keep");
	fixture_end(&fixture);
}

static void test_fork_server_killed(void **state)
{
	struct fixture fixture;
	enum log_level level;
	uint32_t module;
	char *complaint;
	pid_t worker;

	(void)state;
	begin(&fixture, 0);
	module = fixture_module(&fixture, "program");
	assert_named(&fixture, module, "keep");
	worker = fixture_worker_pid(&fixture);
	assert_int_equal(parent_of(parent_of(worker)), getpid());
	assert_int_equal(kill(parent_of(worker), SIGKILL), 0);
	kill(worker, SIGKILL);
	assert_unnamed(&fixture, module, "hidden_one");
	complaint = symbolizer_take_complaint(fixture.symbolizer, &level);
	assert_non_null(complaint);
	assert_int_equal(level, LOG_NOTICE);
	assert_int_equal(symbolizer_unread(fixture.symbolizer), 1);
	free(complaint);
	assert_unnamed(&fixture, module, "main");
	assert_named(&fixture, module, "keep");
	assert_null(symbolizer_take_complaint(fixture.symbolizer, &level));
	fixture_end(&fixture);
}

/* How often it is asked until the tracer has to end; negative = it has not to. */
static int asks_left = -1;

static bool over_soon(void)
{
	if (asks_left > 0)
		asks_left--;
	return !asks_left;
}

/* The process that starts workers is stopped, and the tracer has to end: a file has no names, and the report is not waited for. */
static void test_fork_server_stopped(void **state)
{
	struct symbolizer_options options = { .is_over = over_soon };
	struct fixture fixture;
	enum log_level level;
	uint32_t module;
	char *complaint;
	pid_t server;

	(void)state;
	asks_left = -1;
	fixture_begin(&fixture, &options);
	fixture_run(&fixture, "gcc -O2 -g program.c -o program");
	module = fixture_module(&fixture, "program");
	assert_named(&fixture, module, "keep");
	server = symbolizer_server_pid(fixture.symbolizer);
	assert_int_equal(kill(server, SIGSTOP), 0);
	assert_int_equal(kill(fixture_worker_pid(&fixture), SIGKILL), 0);
	asks_left = 10;
	assert_unnamed(&fixture, module, "hidden_one");
	assert_int_equal(asks_left, 0);
	complaint = symbolizer_take_complaint(fixture.symbolizer, &level);
	assert_non_null(complaint);
	assert_string_equal(complaint, "1 address is without a name: the tracer had to end before "
				       "all were looked up");
	assert_int_equal(level, LOG_NOTICE);
	assert_int_equal(symbolizer_unread(fixture.symbolizer), 0);
	free(complaint);
	assert_unnamed(&fixture, module, "main");
	assert_named(&fixture, module, "keep");
	assert_int_equal(kill(server, SIGCONT), 0);
	fixture_end(&fixture);
}

static void assert_status(pid_t pid, const char *field, const char *expected)
{
	char value[256];

	read_status(pid, field, value);
	assert_string_equal(value, expected);
}

/* Nothing but the streams (which lead nowhere), its socket and the files it was given. */
static void assert_files(struct fixture *fixture, pid_t pid, int given)
{
	char folder[64], link[512], target[256];
	struct dirent *entry;
	int count = 0;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	files = opendir(folder);
	assert_non_null(files);
	while ((entry = readdir(files))) {
		ssize_t length;

		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "2"))
			continue;
		snprintf(link, sizeof(link), "%s/%s", folder, entry->d_name);
		length = readlink(link, target, sizeof(target) - 1);
		assert_true(length > 0);
		target[length] = '\0';
		if (!strncmp(target, fixture->folder, strlen(fixture->folder)))
			count++;
		else if (strncmp(target, "socket:", 7))
			assert_string_equal(target, "/dev/null");
	}
	closedir(files);
	assert_int_equal(count, given);
}

/* A user that nobody else is, so that nobody but root may end the process. */
static void assert_own_user(pid_t pid)
{
	unsigned int user[4], group[4];
	char value[256];

	read_status(pid, "Uid", value);
	assert_int_equal(sscanf(value, "%u %u %u %u", user, user + 1, user + 2, user + 3), 4);
	read_status(pid, "Gid", value);
	assert_int_equal(sscanf(value, "%u %u %u %u", group, group + 1, group + 2, group + 3), 4);
	assert_true(user[0] >= 0x70000000 && user[0] < 0x80000000);
	assert_true(user[1] == user[0] && user[2] == user[0] && user[3] == user[0]);
	assert_memory_equal(user, group, sizeof(user));
}

static void test_no_privileges(void **state)
{
	struct fixture fixture;
	pid_t worker, server;
	FILE *secret;

	(void)state;
	secret = fopen("/proc/self/status", "r");
	begin(&fixture, 0);
	assert_named(&fixture, fixture_module(&fixture, "program"), "keep");
	worker = fixture_worker_pid(&fixture);
	server = parent_of(worker);
	assert_status(worker, "Seccomp", "2");
	assert_status(worker, "NoNewPrivs", "1");
	assert_status(worker, "CapEff", "0000000000000000");
	assert_status(worker, "CapPrm", "0000000000000000");
	assert_status(server, "CapEff", "0000000000000000");
	assert_status(server, "CapPrm", "0000000000000000");
	if (!geteuid()) {
		assert_own_user(worker);
		assert_own_user(server);
		assert_status(worker, "Groups", " ");
		assert_files(&fixture, worker, 1);
		assert_files(&fixture, server, 0);
		assert_int_not_equal(worker, 0);
	}
	fclose(secret);
	fixture_end(&fixture);
	assert_int_equal(kill(worker, 0), -1);
	assert_int_equal(kill(server, 0), -1);
}

/* Ctrl-C goes to the whole process group, and the last report still needs names. */
static void test_interrupted(void **state)
{
	struct fixture fixture;
	uint32_t module;
	pid_t worker;

	(void)state;
	begin(&fixture, 0);
	module = fixture_module(&fixture, "program");
	assert_named(&fixture, module, "keep");
	worker = fixture_worker_pid(&fixture);
	assert_int_not_equal(getpgid(worker), getpgid(0));
	assert_int_not_equal(getpgid(parent_of(worker)), getpgid(0));
	fixture_end(&fixture);
}

/* The tracer is killed: nothing of it stays. */
static void test_orphaned(void **state)
{
	struct fixture fixture;
	pid_t tracer, worker = 0;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	tracer = fork();
	if (!tracer) {
		begin(&fixture, 0);
		assert_named(&fixture, fixture_module(&fixture, "program"), "keep");
		worker = fixture_worker_pid(&fixture);
		fixture_run(&fixture, "rm -r %s", fixture.folder);
		if (write(ends[1], &worker, sizeof(worker)) == (ssize_t)sizeof(worker))
			pause();
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &worker, sizeof(worker)), sizeof(worker));
	close(ends[0]);
	assert_int_equal(kill(worker, 0), 0);
	assert_int_equal(kill(tracer, SIGKILL), 0);
	assert_int_equal(waitpid(tracer, NULL, 0), tracer);
	/* Whether somebody reaps it is not the tracer's business. */
	while (!kill(worker, 0) && !is_zombie(worker))
		usleep(1000);
}

/* More modules than the worker keeps open. */
static void test_many_modules(void **state)
{
	uint64_t address = 0, size = 0, offset;
	const struct symbol_list *names;
	struct fixture fixture;
	uint32_t modules[100];
	size_t i, round;

	(void)state;
	begin(&fixture, 0);
	fixture_symbol(&fixture, "program", "keep", &address, &size);
	offset = fixture_offset(&fixture, "program", address);
	for (i = 0; i < 100; i++)
		modules[i] = fixture_module(&fixture, "program");
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 100; i++) {
			names = fixture_lookup(&fixture, modules[i], offset + round);
			assert_string_equal(names->items[0].function, "keep");
		}
	}
	if (!geteuid())
		assert_files(&fixture, fixture_worker_pid(&fixture), 64);
	fixture_end(&fixture);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_between_lookups),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_crash),
		cmocka_unit_test(test_fork_server_killed),
		cmocka_unit_test(test_fork_server_stopped),
		cmocka_unit_test(test_no_privileges),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_orphaned),
		cmocka_unit_test(test_many_modules),
	};

	(void)argc;
	fork_server_main(argv, worker_run);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
