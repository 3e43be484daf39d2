/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Held children. What they do after the release is known from files that they write; how they got their signals by
 * /proc/self/status, as the shell would have it; which file PATH leads to by execvp itself.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "scratch.h"
#include "system/spawn.h"

static int wait_end(struct spawn *spawn)
{
	siginfo_t info;
	int status;

	assert_int_equal(waitid(P_PID, (id_t)spawn->pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(spawn_poll(spawn, &status), 1);
	assert_int_equal(spawn_poll(spawn, &status), 1);
	return status;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Run a command through hold and release; returns its wait status. */
static int run_command(const struct spawn_signals *signals, char *const arguments[])
{
	struct spawn spawn = { .signals = signals };
	struct error error = { 0 };
	int status;

	assert_int_equal(spawn_hold(&spawn, arguments, &error), 0);
	assert_int_equal(spawn_poll(&spawn, &status), 0);
	assert_int_equal(spawn_release(&spawn, &error), 0);
	assert_int_equal(error.kind, ERROR_NONE);
	status = wait_end(&spawn);
	spawn_free(&spawn);
	return status;
}

static int run_script(const struct spawn_signals *signals, const char *script)
{
	char *arguments[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };

	return run_command(signals, arguments);
}

static void test_status(void **state)
{
	int status;

	(void)state;
	status = run_script(NULL, "exit 0");
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	status = run_script(NULL, "exit 42");
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	status = run_script(NULL, "kill -SEGV $$");
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void test_held(void **state)
{
	struct scratch scratch = scratch_make();
	char *mark = scratch_path(&scratch, "mark");
	char *arguments[] = { (char *)"touch", mark, NULL };
	struct spawn spawn = { 0 };
	char *exe, link[64];
	int status;

	(void)state;
	assert_int_equal(spawn_hold(&spawn, arguments, NULL), 0);
	assert_true(spawn.path[0] == '/' && strcmp(strrchr(spawn.path, '/'), "/touch") == 0);
	/* Until its exec it runs this program. */
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)spawn.pid);
	exe = realpath(link, NULL);
	assert_string_equal(strrchr(exe, '/'), "/test_spawn");
	free(exe);
	assert_int_equal(spawn_poll(&spawn, &status), 0);
	assert_false(exists(mark));
	assert_int_equal(spawn_release(&spawn, NULL), 0);
	assert_int_equal(wait_end(&spawn), 0);
	assert_true(exists(mark));
	spawn_free(&spawn);
	free(mark);
	scratch_remove(&scratch);
}

/* Given up before its release, it never runs; released, it outlives spawn_free. */
static void test_free_accepts(void **state)
{
	struct scratch scratch = scratch_make();
	char *mark = scratch_path(&scratch, "mark");
	char *arguments[] = { (char *)"touch", mark, NULL };
	char *sleep_arguments[] = { (char *)"sleep", (char *)"100", NULL };
	struct spawn spawn = { 0 };
	pid_t pid;

	(void)state;
	spawn_free(&spawn);
	spawn_free(NULL);
	assert_int_equal(spawn_hold(&spawn, arguments, NULL), 0);
	pid = spawn.pid;
	kill(pid, SIGSTOP);
	spawn_free(&spawn);
	assert_int_equal(spawn.pid, 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_false(exists(mark));
	assert_int_equal(spawn_hold(&spawn, sleep_arguments, NULL), 0);
	assert_int_equal(spawn_release(&spawn, NULL), 0);
	pid = spawn.pid;
	spawn_free(&spawn);
	assert_int_equal(kill(pid, 0), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	free(mark);
	scratch_remove(&scratch);
}

/* A tracer that has given up root cannot kill a child that somebody stopped, and does not wait for it either. */
static void test_free_without_rights(void **state)
{
	char *arguments[] = { (char *)"sleep", (char *)"100", NULL };
	struct spawn spawn = { 0 };
	int status;
	pid_t pid;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(spawn_hold(&spawn, arguments, NULL), 0);
	pid = spawn.pid;
	kill(pid, SIGSTOP);
	assert_int_equal(setresuid(1, 1, 0), 0);
	spawn_free(&spawn);
	assert_int_equal(setresuid(0, 0, 0), 0);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
}

/* A tracer that is killed with a child in hand: the child ends by itself, without a trace of its command. */
static void test_tracer_dies(void **state)
{
	struct scratch scratch = scratch_make();
	char *mark = scratch_path(&scratch, "mark");
	char *arguments[] = { (char *)"touch", mark, NULL };
	int ends[2], status;
	pid_t tracer, child;

	(void)state;
	/* Orphans come to this process, so that it learns how they end. */
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(ends), 0);
	tracer = fork();
	if (tracer == 0) {
		struct spawn spawn = { 0 };

		if (spawn_hold(&spawn, arguments, NULL) ||
		    write(ends[1], &spawn.pid, sizeof(spawn.pid)) != sizeof(spawn.pid))
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &child, sizeof(child)), sizeof(child));
	assert_int_equal(kill(child, 0), 0);
	kill(tracer, SIGKILL);
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	assert_false(exists(mark));
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	close(ends[0]);
	close(ends[1]);
	free(mark);
	scratch_remove(&scratch);
}

static void on_signal(int number)
{
	(void)number;
}

/*
 * The lines SigBlk, SigIgn and SigCgt of a program that `signals` are given to: cp copies its own status. A shell in
 * between would change them.
 */
static char *signals_seen(const struct spawn_signals *signals, char *path)
{
	char *arguments[] = { (char *)"cp", (char *)"/proc/self/status", path, NULL };
	struct buffer output = { 0 };
	char *command = memory_format("grep -E '^Sig(Blk|Ign|Cgt)' %s", path);

	assert_int_equal(run_command(signals, arguments), 0);
	scratch_output(&output, command);
	free(command);
	return output.data;
}

/* Those that whoever runs the tests ignores are ignored in the child as well. */
static unsigned long long inherited;

static void assert_signals(const char *seen, unsigned long long blocked, unsigned long long ignored)
{
	unsigned long long mask, off, caught;

	assert_int_equal(
		sscanf(seen, "SigBlk: %llx SigIgn: %llx SigCgt: %llx", &mask, &off, &caught), 3);
	assert_int_equal(mask, blocked);
	assert_int_equal(off, ignored | inherited);
	assert_int_equal(caught, 0);
}

static void test_signals(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_path(&scratch, "signals"), *seen;
	struct spawn_signals saved;
	sigset_t mask, old;

	(void)state;
	/* As the tracer got them. */
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_SETMASK, &mask, &old);
	signal(SIGUSR1, SIG_IGN);
	spawn_signals_save(&saved);
	/* What the tracer does with them afterwards must not matter. */
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	signal(SIGUSR1, on_signal);
	signal(SIGPIPE, SIG_IGN);
	seen = signals_seen(&saved, path);
	assert_signals(seen, 1 << (SIGINT - 1), 1 << (SIGUSR1 - 1));
	free(seen);
	/* The caller's own state is untouched. */
	assert_true(signal(SIGUSR1, SIG_DFL) == on_signal);
	assert_true(signal(SIGPIPE, inherited >> (SIGPIPE - 1) & 1 ? SIG_IGN : SIG_DFL) == SIG_IGN);
	sigprocmask(SIG_SETMASK, &old, &mask);
	assert_int_equal(sigismember(&mask, SIGTERM), 1);
	assert_int_equal(sigismember(&mask, SIGUSR2), 0);
	free(path);
	scratch_remove(&scratch);
}

/* Without saved ones: as they are now. A caller that ignores SIGCHLD still learns the status. */
static void test_signals_now(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_path(&scratch, "signals"), *seen;

	(void)state;
	signal(SIGCHLD, SIG_IGN);
	seen = signals_seen(NULL, path);
	assert_signals(seen, 0, 1 << (SIGCHLD - 1));
	assert_true(signal(SIGCHLD, SIG_DFL) == SIG_DFL);
	free(seen);
	free(path);
	scratch_remove(&scratch);
}

/* What execvp takes for `command`: the script prints its own path. "" if it finds none. */
static char *execvp_choice(const char *command)
{
	struct buffer output = { 0 };
	char bytes[512];
	ssize_t got;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		execlp(command, command, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	buffer_append_string(&output, "");
	while ((got = read(ends[0], bytes, sizeof(bytes))) > 0)
		buffer_append(&output, bytes, (size_t)got);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return output.data;
}

static void test_find(void **state)
{
	static const char *const commands[] = { "both", "second", "folder",    "forbidden", "here",
						"none", "",	  "/bin/none", "shadowed" };
	static const char *const paths[][4] = { { "", "one", "two", "" },
						{ "", "none", "two", ":" },
						{ ":", "two", "one", "" },
						{ "", "one", "two", "::/none" } };
	static const char script[] = "#!/bin/sh\nprintf %s \"$0\"\n";
	struct scratch scratch = scratch_make();
	char *old_path = memory_copy_string(getenv("PATH")), *folder = getcwd(NULL, 0);
	size_t i, mode;

	(void)state;
	assert_int_equal(scratch_run("mkdir -p %s/one/folder %s/two", scratch.path, scratch.path),
			 0);
	free(scratch_file(&scratch, "one/both", script, strlen(script), 0755));
	free(scratch_file(&scratch, "two/both", script, strlen(script), 0755));
	free(scratch_file(&scratch, "two/second", script, strlen(script), 0755));
	free(scratch_file(&scratch, "two/folder", script, strlen(script), 0755));
	free(scratch_file(&scratch, "one/forbidden", script, strlen(script), 0644));
	free(scratch_file(&scratch, "one/shadowed", script, strlen(script), 0644));
	free(scratch_file(&scratch, "two/shadowed", script, strlen(script), 0755));
	free(scratch_file(&scratch, "here", script, strlen(script), 0755));
	assert_int_equal(chdir(scratch.path), 0);
	for (mode = 0; mode < sizeof(paths) / sizeof(paths[0]); mode++) {
		char *path = memory_format("%s%s/%s:%s/%s%s", paths[mode][0], scratch.path,
					   paths[mode][1], scratch.path, paths[mode][2],
					   paths[mode][3]);

		setenv("PATH", path, 1);
		for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
			char *found = spawn_find(commands[i], NULL);
			char *expected = execvp_choice(commands[i]);

			if (strncmp(expected, "./", 2) != 0 && strchr(expected, '/') == NULL &&
			    expected[0]) {
				/* execvp calls the working directory "". */
				assert_string_equal(found, "./here");
			} else {
				assert_string_equal(found ? found : "", expected);
			}
			free(found);
			free(expected);
		}
		free(path);
	}
	setenv("PATH", old_path, 1);
	assert_int_equal(chdir(folder), 0);
	free(folder);
	free(old_path);
	scratch_remove(&scratch);
}

static void assert_not_held(const char *command, enum error_kind kind, const char *why)
{
	char *arguments[] = { (char *)command, NULL };
	struct spawn spawn = { 0 };
	struct error error = { 0 };

	assert_true(spawn_hold(&spawn, arguments, &error) < 0);
	assert_int_equal(error.kind, kind);
	assert_int_equal(spawn.pid, 0);
	if (!strstr(error.text, why))
		fail_msg("'%s' does not say '%s'", error.text, why);
}

static void test_not_held(void **state)
{
	(void)state;
	assert_not_held("no-such-command", ERROR_NOT_FOUND,
			"cannot run no-such-command: command not found");
	assert_not_held("", ERROR_NOT_FOUND, "command not found");
	assert_not_held("/no/such/file", ERROR_NOT_FOUND, "No such file or directory");
	assert_not_held("/etc/passwd", ERROR_NOT_EXECUTABLE, "Permission denied");
	assert_not_held("/etc", ERROR_NOT_EXECUTABLE, "Permission denied");
}

static void assert_exec_fails(const char *path, enum error_kind kind, int code)
{
	char *arguments[] = { (char *)path, NULL };
	struct spawn spawn = { 0 };
	struct error error = { 0 };
	int status;

	assert_int_equal(spawn_hold(&spawn, arguments, NULL), 0);
	assert_int_equal(spawn_release(&spawn, &error), -code);
	assert_int_equal(error.kind, kind);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, strerror(code)));
	assert_int_equal(spawn_poll(&spawn, &status), 1);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
	spawn_free(&spawn);
}

static void test_exec_fails(void **state)
{
	static const char missing[] = "#!/no/such/interpreter\n";
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "script", missing, strlen(missing), 0755);
	int fd;

	(void)state;
	assert_exec_fails(path, ERROR_NOT_FOUND, ENOENT);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_exec_fails(path, ERROR_NOT_EXECUTABLE, ETXTBSY);
	close(fd);
	free(path);
	scratch_remove(&scratch);
}

/* A script without #! is the shell's, as with execvp; its arguments stay. */
static void test_shell(void **state)
{
	struct scratch scratch = scratch_make();
	char *text = memory_format("printf '%%s,' \"$0\" \"$@\" > %s/out\n", scratch.path);
	char *path = scratch_file(&scratch, "script", text, strlen(text), 0755);
	char *arguments[] = { (char *)"name", (char *)"one", (char *)"two words", NULL };
	char *expected = memory_format("%s,one,two words,", path);
	char *command = memory_format("cat %s/out", scratch.path);
	struct buffer output = { 0 };
	struct spawn spawn = { 0 };

	(void)state;
	arguments[0] = path;
	assert_int_equal(spawn_hold(&spawn, arguments, NULL), 0);
	assert_int_equal(spawn_release(&spawn, NULL), 0);
	assert_int_equal(wait_end(&spawn), 0);
	spawn_free(&spawn);
	scratch_output(&output, command);
	assert_string_equal(output.data, expected);
	buffer_free(&output);
	free(command);
	free(expected);
	free(path);
	free(text);
	scratch_remove(&scratch);
}

static void test_killed_while_held(void **state)
{
	char *arguments[] = { (char *)"true", NULL };
	struct spawn spawn = { 0 };
	struct error error = { 0 };
	siginfo_t info;
	int status;

	(void)state;
	assert_int_equal(spawn_hold(&spawn, arguments, NULL), 0);
	kill(spawn.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)spawn.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(spawn_release(&spawn, &error), -ESRCH);
	assert_int_equal(error.kind, ERROR_TARGET);
	assert_int_equal(spawn_poll(&spawn, &status), 1);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	spawn_free(&spawn);
}

/* The command inherits nothing of what holds it: its descriptors are those of a command started by the shell. */
static void test_descriptors(void **state)
{
	struct scratch scratch = scratch_make();
	char *script = memory_format("ls /proc/self/fd > %s/held", scratch.path);

	(void)state;
	assert_int_equal(run_script(NULL, script), 0);
	assert_int_equal(scratch_run("sh -c 'ls /proc/self/fd > %s/plain'", scratch.path), 0);
	assert_int_equal(scratch_run("cmp %s/held %s/plain", scratch.path, scratch.path), 0);
	free(script);
	scratch_remove(&scratch);
}

static unsigned long long signals_ignored_now(void)
{
	unsigned long long ignored = 0;
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SigIgn: %llx", &ignored);
	if (file)
		fclose(file);
	return ignored;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),	     cmocka_unit_test(test_held),
		cmocka_unit_test(test_free_accepts), cmocka_unit_test(test_free_without_rights),
		cmocka_unit_test(test_tracer_dies),  cmocka_unit_test(test_signals),
		cmocka_unit_test(test_signals_now),  cmocka_unit_test(test_find),
		cmocka_unit_test(test_not_held),     cmocka_unit_test(test_exec_fails),
		cmocka_unit_test(test_shell),	     cmocka_unit_test(test_killed_while_held),
		cmocka_unit_test(test_descriptors),
	};

	inherited = signals_ignored_now();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
