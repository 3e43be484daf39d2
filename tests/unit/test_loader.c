/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loader_* on programs that are compiled here. The truth is what the kernel says: each program is run for once and
 * prints its own /proc/self/maps.
 */
#include <errno.h>
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "scratch.h"
#include "system/loader.h"
#include "elf/elf_file.h"
#include "system/loader_run.h"

#define LONG_MS 100000

#include "system/proc.h"

static const char program_source[] = "#include <stdio.h>\n"
				     "int first(void);\n"
				     "int main(void)\n"
				     "{\n"
				     "	FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n"
				     "	int c;\n"
				     "	while ((c = getc(maps)) != EOF)\n"
				     "		putchar(c);\n"
				     "	return FIRST;\n"
				     "}\n";

struct programs {
	struct scratch scratch;
	char *plain; /* libfirst by its RUNPATH, which needs libsecond */
	char *unset; /* the same without a RUNPATH */
	char *preload; /* a library that no program asks for */
};

static char *programs_library(const struct programs *programs, const char *name,
			      const char *options)
{
	char *path = memory_format("%s/libs/lib%s.so", programs->scratch.path, name);

	assert_int_equal(scratch_run("cd '%s' && echo 'int %s(void) { return 0; }' | "
				     "cc -shared -fPIC -x c - -x none -o 'libs/lib%s.so' %s",
				     programs->scratch.path, name, name, options),
			 0);
	return path;
}

static char *programs_compile(const struct programs *programs, const char *compiler,
			      const char *name, const char *options)
{
	assert_int_equal(scratch_run("cd '%s' && %s program.c -o '%s' %s", programs->scratch.path,
				     compiler, name, options),
			 0);
	return scratch_path(&programs->scratch, name);
}

static struct programs programs_make(void)
{
	struct programs programs = { .scratch = scratch_make() };

	free(scratch_file(&programs.scratch, "program.c", program_source, strlen(program_source),
			  0644));
	assert_int_equal(scratch_run("mkdir '%s/libs'", programs.scratch.path), 0);
	free(programs_library(&programs, "second", ""));
	free(programs_library(&programs, "first",
			      "-Wl,--no-as-needed -Llibs -lsecond -Wl,-rpath,'$ORIGIN'"));
	programs.preload = programs_library(&programs, "preload", "");
	programs.plain = programs_compile(&programs, "cc", "plain program => (0x1)",
					  "-DFIRST='first()' -Llibs -lfirst "
					  "-Wl,-rpath,'$ORIGIN/libs' -Wl,-rpath-link,libs");
	programs.unset = programs_compile(&programs, "cc", "unset",
					  "-DFIRST='first()' -Llibs -lfirst -Wl,-rpath-link,libs");
	return programs;
}

static void programs_free(struct programs *programs)
{
	free(programs->plain);
	free(programs->unset);
	free(programs->preload);
	scratch_remove(&programs->scratch);
}

static bool contains(char *const *paths, size_t count, const char *path)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(paths[i], path) == 0)
			return true;
	return false;
}

/* What the sandboxed process does, in this one. */
static int read_program(void *context, int fd, const char *path, char **ret_interpreter,
			struct error *error)
{
	struct error reason = { 0 };
	struct elf_file *file = elf_file_open(fd, &reason);

	(void)context;
	if (!file)
		return error_set(error, ERROR_NOTHING, -ENOEXEC, "%s: %s", path, reason.text);
	*ret_interpreter = memory_copy_string(elf_file_interpreter(file));
	elf_file_close(file);
	return 0;
}

static const struct loader_rights caller = { .reader = { read_program, NULL } };

/* The files of the executable mappings that a program prints of itself. Free with loader_list_free. */
static char **run_mapped(const char *program, size_t *ret_count)
{
	char *command = memory_format("'%s'", program), **paths = NULL;
	struct proc_map_list maps;
	struct buffer output = { 0 };
	size_t capacity = 0, count = 0, i;

	scratch_output(&output, command);
	proc_parse_maps(output.data, output.length, &maps);
	for (i = 0; i < maps.count; i++) {
		const struct proc_mapping *mapping = &maps.items[i];

		if (!mapping->executable || !mapping->inode ||
		    contains(paths, count, mapping->path))
			continue;
		paths = memory_grow(paths, count, &capacity, sizeof(*paths));
		paths[count++] = memory_copy_string(mapping->path);
	}
	proc_map_list_free(&maps);
	buffer_free(&output);
	free(command);
	*ret_count = count;
	return paths;
}

/* Returns the number of files. */
static size_t check_program(const char *program)
{
	char **listed, **mapped;
	struct error error = { 0 };
	size_t listed_count, mapped_count, i;

	if (loader_list_libraries(program, &caller, &listed, &listed_count, &error))
		fail_msg("%s: %s", program, error.text);
	mapped = run_mapped(program, &mapped_count);
	for (i = 0; i < listed_count; i++)
		if (!contains(mapped, mapped_count, listed[i]))
			fail_msg("%s does not map %s", program, listed[i]);
	for (i = 0; i < mapped_count; i++)
		if (!contains(listed, listed_count, mapped[i]))
			fail_msg("%s maps %s", program, mapped[i]);
	assert_int_equal(listed_count, mapped_count);
	/* The kernel maps the program first, wherever it lies. */
	assert_true(contains(mapped, mapped_count, listed[0]));
	loader_list_free(listed, listed_count);
	loader_list_free(mapped, mapped_count);
	return listed_count;
}

static void assert_first(const char *program, const char *first)
{
	size_t count;
	char **paths;

	assert_int_equal(loader_list_libraries(program, &caller, &paths, &count, NULL), 0);
	assert_string_equal(paths[0], first);
	loader_list_free(paths, count);
}

/* The program, its loader, libc and two libraries; then with one more that is preloaded. */
static void test_dynamic(void **state)
{
	struct programs programs = programs_make();
	char *link = scratch_path(&programs.scratch, "link");

	(void)state;
	assert_int_equal(check_program(programs.plain), 5);
	assert_int_equal(symlink(programs.plain, link), 0);
	assert_int_equal(check_program(link), 5);
	assert_first(link, programs.plain);
	setenv("LD_PRELOAD", programs.preload, 1);
	assert_int_equal(check_program(programs.plain), 6);
	unsetenv("LD_PRELOAD");
	free(link);
	programs_free(&programs);
}

/* What makes the loader talk must not hide its list. */
static void test_environment(void **state)
{
	struct programs programs = programs_make();
	char *libraries = scratch_path(&programs.scratch, "libs");
	size_t count;
	char **paths;

	(void)state;
	setenv("LD_LIBRARY_PATH", libraries, 1);
	assert_int_equal(check_program(programs.unset), 5);
	setenv("LD_DEBUG", "help", 1);
	setenv("LD_VERBOSE", "1", 1);
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	assert_int_equal(loader_list_libraries(programs.unset, &caller, &paths, &count, NULL), 0);
	assert_int_equal(count, 5);
	loader_list_free(paths, count);
	unsetenv("LD_DEBUG");
	unsetenv("LD_VERBOSE");
	unsetenv("LD_TRACE_LOADED_OBJECTS");
	unsetenv("LD_LIBRARY_PATH");
	free(libraries);
	programs_free(&programs);
}

static void test_static(void **state)
{
	struct programs programs = programs_make();
	char *program = programs_compile(&programs, "cc", "static", "-DFIRST=0 -static");

	(void)state;
	assert_int_equal(check_program(program), 1);
	free(program);
	program = programs_compile(&programs, "cc", "static-pie", "-DFIRST=0 -static-pie");
	assert_int_equal(check_program(program), 1);
	free(program);
	programs_free(&programs);
}

/* Its loader is its libc. */
static void test_musl(void **state)
{
	struct programs programs;
	char *program;

	(void)state;
	if (scratch_run("command -v musl-gcc > /dev/null"))
		skip();
	programs = programs_make();
	program = programs_compile(&programs, "musl-gcc", "musl", "-DFIRST=0");
	assert_int_equal(check_program(program), 2);
	free(program);
	programs_free(&programs);
}

static char *script_make(const struct programs *programs, const char *name, const char *text)
{
	return scratch_file(&programs->scratch, name, text, strlen(text), 0755);
}

/* Scripts of scripts of a program; each is run, and the program prints what the kernel has mapped for it. */
static void test_scripts(void **state)
{
	static const char maps_script[] = "while read -r line; do echo \"$line\"; done "
					  "< /proc/$$/maps\n";
	struct programs programs = programs_make();
	char *text = memory_format("#! \t%s  an argument\nnonsense", programs.unset);
	char *script = script_make(&programs, "script", text), *deeper, *shell;
	char *libraries = scratch_path(&programs.scratch, "libs");
	int depth;

	(void)state;
	setenv("LD_LIBRARY_PATH", libraries, 1);
	free(text);
	for (depth = 0; depth < 4; depth++) {
		assert_int_equal(check_program(script), 5);
		assert_first(script, programs.unset);
		text = memory_format("#!%s", script);
		deeper = memory_format("script%d", depth);
		free(script);
		script = script_make(&programs, deeper, text);
		free(deeper);
		free(text);
	}
	free(script);
	shell = realpath("/bin/sh", NULL);
	script = script_make(&programs, "shell", maps_script);
	check_program(script);
	assert_first(script, shell);
	free(script);
	script = script_make(&programs, "empty", "");
	assert_first(script, shell);
	free(script);
	free(shell);
	unsetenv("LD_LIBRARY_PATH");
	free(libraries);
	programs_free(&programs);
}

static void assert_fails(const char *program, int status, enum error_kind kind, const char *why)
{
	struct error error = { 0 };
	char **paths = NULL;
	size_t count = 7;

	assert_int_equal(loader_list_libraries(program, &caller, &paths, &count, &error), status);
	assert_int_equal(error.kind, kind);
	assert_null(paths);
	assert_int_equal(count, 7);
	if (!strstr(error.text, why))
		fail_msg("'%s' does not say '%s'", error.text, why);
}

static void test_failures(void **state)
{
	struct programs programs = programs_make();
	char *self = scratch_path(&programs.scratch, "self"), *text, *path;

	(void)state;
	assert_fails("/none", -ENOENT, ERROR_TARGET, "cannot read /none: No such file");
	assert_fails("/", -EACCES, ERROR_TARGET, "cannot read /");
	/* To open one for reading would wait for a writer. */
	path = scratch_path(&programs.scratch, "fifo");
	assert_int_equal(mkfifo(path, 0755), 0);
	assert_fails(path, -EACCES, ERROR_TARGET, "fifo");
	free(path);
	text = memory_format("#!%s", self);
	free(script_make(&programs, "self", text));
	assert_fails(self, -ELOOP, ERROR_TARGET, "too many levels of scripts");
	free(text);
	path = script_make(&programs, "device", "#!/dev/full\n");
	assert_fails(path, -EACCES, ERROR_TARGET, "cannot read /dev/full");
	free(path);
	path = script_make(&programs, "damaged", "\177ELF, but no more");
	assert_fails(path, -ENOEXEC, ERROR_NOTHING, "damaged: ");
	free(path);
	free(self);
	programs_free(&programs);
}

/* An interpreter of the test's own: any program may name one. */
static void test_interpreters(void **state)
{
	struct programs programs = programs_make();
	char *interpreter, *program;
	char *options = memory_format("-DFIRST=0 -Wl,--dynamic-linker=%s/interpreter",
				      programs.scratch.path);

	(void)state;
	program = programs_compile(&programs, "cc", "program", options);
	assert_fails(program, -ENOENT, ERROR_NOTHING, "cannot run");
	interpreter = script_make(&programs, "interpreter",
				  "#!/bin/sh\nprintf '\\tnothing (0x1)\\nthe reason\\n' >&2\n"
				  "exit 3\n");
	assert_fails(program, -EIO, ERROR_NOTHING, "failed: the reason");
	free(interpreter);
	interpreter = script_make(&programs, "interpreter", "#!/bin/sh\nkill -KILL $$\n");
	assert_fails(program, -EIO, ERROR_NOTHING, "failed");
	free(interpreter);
	free(options);
	free(program);
	programs_free(&programs);
}

static int run_loader(const char *interpreter, const char *program, int timeout_ms,
		      struct buffer *output)
{
	const struct loader_child child = { .interpreter = interpreter, .program = program };

	return loader_run(&child, timeout_ms, output);
}

/* By name, and by who can have put it there. */
static void test_system_loader(void **state)
{
	struct scratch scratch = scratch_make();
	char *own = scratch_file(&scratch, "ld-linux.so.2", "", 0, 0755);

	(void)state;
	assert_true(loader_is_system("/lib64/ld-linux-x86-64.so.2") ||
		    loader_is_system("/lib/ld-linux-aarch64.so.1"));
	assert_false(loader_is_system("/bin/sh"));
	assert_false(loader_is_system("/none/ld-linux.so.2"));
	/* Others may write to the folder above. */
	assert_false(loader_is_system(own));
	free(own);
	scratch_remove(&scratch);
}

/* It cannot do what root can. */
static void test_run_as_user(void **state)
{
	static const char expected[] = "Uid:\t65534\t65534\t65534\t65534\nGroups:\t65534 \n"
				       "CapEff:\t0000000000000000\nNoNewPrivs:\t1\ncat: ";
	gid_t group = 65534;
	const struct user user = { 65534, 65534, &group, 1 };
	struct scratch scratch = scratch_make();
	char *secret = scratch_file(&scratch, "secret", "secret", 6, 0600);
	char *text = memory_format("#!/bin/sh\ngrep -E '^(Uid|Groups|CapEff|NoNewPrivs)' "
				   "/proc/self/status; cat %s\n",
				   secret);
	char *path = scratch_file(&scratch, "list", text, strlen(text), 0755);
	const struct loader_child child = { path, "/", &user };
	struct buffer output = { 0 };

	(void)state;
	if (geteuid() == 0) {
		assert_int_equal(chmod(scratch.path, 0755), 0);
		loader_run(&child, LONG_MS, &output);
		assert_memory_equal(output.data, expected, sizeof(expected) - 1);
	}
	buffer_free(&output);
	free(path);
	free(text);
	free(secret);
	scratch_remove(&scratch);
	if (geteuid())
		skip();
}

/* What a script prints and how it ends, under the name of an interpreter. */
static int run_interpreter(const char *text, int timeout_ms, struct buffer *output)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "interpreter", text, strlen(text), 0755);
	int status = run_loader(path, "/a program", timeout_ms, output);

	free(path);
	scratch_remove(&scratch);
	return status;
}

static size_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void test_run(void **state)
{
	struct buffer output = { 0 };
	size_t before = open_files();
	sigset_t all, old;

	(void)state;
	/* The child must not begin with the signals of the tracer blocked. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	assert_int_equal(run_interpreter("#!/bin/sh\necho \"$*\"\ncat\necho err >&2\n"
					 "grep SigBlk /proc/self/status\n",
					 LONG_MS, &output),
			 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_string_equal(output.data, "--list /a program\nerr\nSigBlk:\t0000000000000000\n");
	buffer_clear(&output);
	assert_int_equal(run_interpreter("#!/bin/sh\necho some; exit 9", LONG_MS, &output), 1);
	assert_string_equal(output.data, "some\n");
	buffer_clear(&output);
	assert_int_equal(run_interpreter("#!/bin/sh\nexec sleep 1000", 50, &output), -ETIMEDOUT);
	assert_int_equal(run_interpreter("#!/bin/sh\nexec sleep 1000 >&- 2>&-", 50, &output),
			 -ETIMEDOUT);
	assert_int_equal(run_interpreter("#!/bin/sh\nexec yes", LONG_MS, &output), -EFBIG);
	assert_int_equal(run_loader("/none", "/", LONG_MS, &output), -ENOENT);
	assert_int_equal(open_files(), before);
	/* No child is left behind. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	buffer_free(&output);
}

/* The loader inherits nothing of the pipe that it writes to: its descriptors are those of any command. */
static void test_run_descriptors(void **state)
{
	static const char script[] = "#!/bin/sh\nls /proc/self/fd";
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "list", script, strlen(script), 0755);
	struct buffer output = { 0 }, plain = { 0 };

	(void)state;
	assert_int_equal(run_loader(path, "/", LONG_MS, &output), 0);
	scratch_output(&plain, path);
	assert_string_equal(output.data, plain.data);
	buffer_free(&output);
	buffer_free(&plain);
	free(path);
	scratch_remove(&scratch);
}

/* Started by something that closed all of its descriptors. */
static void test_run_without_stdio(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		struct buffer output = { 0 };

		close(0);
		close(1);
		close(2);
		_exit(run_loader("/bin/echo", "x", LONG_MS, &output) ||
		      strcmp(output.data, "--list x\n") != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Lines as glibc's and musl's loaders print them, and damaged ones. */
static void test_lines(void **state)
{
	static const struct {
		const char *line, *path;
	} cases[] = {
		{ "\tlinux-vdso.so.1 (0x00007ffd4a5f2000)", NULL },
		{ "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2db4800000)",
		  "/lib/x86_64-linux-gnu/libc.so.6" },
		{ "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2db4ba5000)",
		  "/lib64/ld-linux-x86-64.so.2" },
		{ "\tlibc.so => /lib/ld-musl-x86_64.so.1 (0x7f2db4ba5000)",
		  "/lib/ld-musl-x86_64.so.1" },
		{ "\tlibnone.so => not found", NULL },
		{ "\tlib.so => ./lib.so (0x1)", "./lib.so" },
		{ "\ta => /b c (0x1) (0x2)", "/b c (0x1)" },
		{ "\tstatically linked", NULL },
		{ "/no/tab (0x1)", NULL },
		{ "\t/no/address", NULL },
		{ "\t/x (0x)", NULL },
		{ "\t/x (0x1", NULL },
		{ "\t/x(0x1)", NULL },
		{ "\t/x (0x1G)", NULL },
		{ "\t (0x1)", NULL },
		{ "\ta =>  (0x1)", NULL },
		{ "\t)", NULL },
		{ "\t", NULL },
		{ "", NULL },
	};
	char *longest = memory_format("\t/%04095d (0x1)", 0), *path;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		path = loader_parse_line(cases[i].line, strlen(cases[i].line));
		assert_int_equal(path != NULL, cases[i].path != NULL);
		if (path)
			assert_string_equal(path, cases[i].path);
		free(path);
	}
	assert_null(loader_parse_line("\t/x\0y (0x1)", 11));
	assert_null(loader_parse_line(longest, strlen(longest)));
	free(longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic),		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_static),		cmocka_unit_test(test_musl),
		cmocka_unit_test(test_scripts),		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_interpreters),	cmocka_unit_test(test_system_loader),
		cmocka_unit_test(test_run_as_user),	cmocka_unit_test(test_run),
		cmocka_unit_test(test_run_descriptors), cmocka_unit_test(test_run_without_stdio),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
