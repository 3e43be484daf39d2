/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs without debug information of their own: where it is found, and that none is taken that belongs to
 * another program. The truth is the source: `hidden_one` is a static function of program.c, `exported_one` is exported,
 * both have inlined functions from inline.h.
 */
#include "symbolizer_fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Puts "full" with its debug information, "full.debug" with nothing else, and "bare" without into the folder. */
static void build(struct fixture *fixture, const char *flags)
{
	fixture_run(fixture, "gcc -O2 -g %s -shared -fPIC -DLIBRARY program.c -o full", flags);
	fixture_run(fixture, "objcopy --only-keep-debug full full.debug && strip -o bare full");
}

/* A command that files full.debug under its build ID in a store. */
#define STORE(store)                                                                      \
	"id=$(readelf -n full | sed -n 's/.*Build ID: //p') && "                          \
	"first=$(echo $id | cut -c1-2) && rest=$(echo $id | cut -c3-) && mkdir -p " store \
	"/.build-id/$first && cp full.debug " store "/.build-id/$first/$rest.debug"

static uint64_t offset_of(struct fixture *fixture, const char *symbol)
{
	uint64_t address = 0, size = 0;

	fixture_symbol(fixture, "full", symbol, &address, &size);
	return fixture_offset(fixture, "full", address + size / 2);
}

static const struct symbol *outermost(const struct symbol_list *names)
{
	return &names->items[names->count - 1];
}

/* With debug information the static function has its name, and something is inlined into it. */
static void assert_complete(struct fixture *fixture, uint32_t module)
{
	const struct symbol_list *names =
		fixture_lookup(fixture, module, offset_of(fixture, "hidden_one"));

	assert_true(names->count > 1);
	assert_string_equal(outermost(names)->function, "hidden_one");
	assert_non_null(strstr(outermost(names)->file, "/program.c"));
	assert_non_null(strstr(names->items[0].file, "/inline.h"));
	assert_true(names->items[0].line > 0);
}

/* Without, only exported functions have one, and nothing has a line. */
static void assert_bare(struct fixture *fixture, uint32_t module)
{
	const struct symbol_list *names =
		fixture_lookup(fixture, module, offset_of(fixture, "exported_one"));

	assert_int_equal(names->count, 1);
	assert_string_equal(names->items[0].function, "exported_one");
	assert_null(names->items[0].file);
	names = fixture_lookup(fixture, module, offset_of(fixture, "hidden_one"));
	assert_int_equal(names->count, 1);
	assert_null(names->items[0].function);
	assert_null(names->items[0].file);
}

static void test_stripped(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, NULL);
	build(&fixture, "");
	assert_bare(&fixture, fixture_module(&fixture, "bare"));
	assert_complete(&fixture, fixture_module(&fixture, "full"));
	fixture_end(&fixture);
}

/* The folder of the debug files must be known before the folder of the fixture is made. */
static void begin_with_store(struct fixture *fixture, char store[64])
{
	struct symbolizer_options options = { .debug_directory = store };

	snprintf(store, 64, "/tmp/test_symbolizer_store.XXXXXX");
	assert_non_null(mkdtemp(store));
	fixture_begin(fixture, &options);
	fixture_run(fixture, "rmdir %s && ln -s $PWD/store %s && mkdir store", store, store);
}

static void end_with_store(struct fixture *fixture, const char *store)
{
	assert_int_equal(unlink(store), 0);
	fixture_end(fixture);
}

static void test_build_id_in_chosen_directory(void **state)
{
	struct fixture fixture;
	char store[64];

	(void)state;
	begin_with_store(&fixture, store);
	build(&fixture, "");
	fixture_run(&fixture, STORE("store"));
	assert_complete(&fixture, fixture_module(&fixture, "bare"));
	end_with_store(&fixture, store);
}

/* The right path, but the debug file of another program. */
static void test_build_id_of_another(void **state)
{
	struct fixture fixture;
	char store[64], *said;

	(void)state;
	begin_with_store(&fixture, store);
	build(&fixture, "");
	fixture_run(&fixture, "cp full mine && cp bare mine_bare");
	build(&fixture, "-O1");
	fixture_run(&fixture, "cp mine full");
	fixture_run(&fixture, STORE("store"));
	assert_bare(&fixture, fixture_module(&fixture, "mine_bare"));
	/* It was opened, and did not fit. */
	said = symbolizer_take_unfit(fixture.symbolizer);
	assert_non_null(said);
	free(said);
	end_with_store(&fixture, store);
}

/* Any layout, any name, with its code still in it: the build ID decides. Others that lie there do not matter. */
static void test_build_id_anywhere(void **state)
{
	static const char *const places[] = { "full.debug store/some.thing",
					      "full store/deep/er/bare.unstripped" };
	struct fixture fixture;
	char store[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		begin_with_store(&fixture, store);
		build(&fixture, "-O1");
		fixture_run(&fixture, "mkdir -p store/deep/er && cp full store/another && "
				      "echo text >store/text && mkfifo store/fifo && "
				      "ln -s . store/loop && ln -s nowhere store/dangling");
		build(&fixture, "");
		fixture_run(&fixture, "cp %s", places[i]);
		assert_complete(&fixture, fixture_module(&fixture, "bare"));
		assert_null(symbolizer_take_unfit(fixture.symbolizer));
		end_with_store(&fixture, store);
	}
}

/* No file fits: it is said, once, with the name of the file that lacks one. */
static void test_nothing_fits(void **state)
{
	struct fixture fixture;
	char store[64], *said;

	(void)state;
	begin_with_store(&fixture, store);
	build(&fixture, "-O1");
	fixture_run(&fixture, "cp full store/another && cp full.debug store");
	build(&fixture, "");
	assert_null(symbolizer_take_unfit(fixture.symbolizer));
	assert_bare(&fixture, fixture_module(&fixture, "bare"));
	said = symbolizer_take_unfit(fixture.symbolizer);
	assert_non_null(said);
	assert_non_null(strstr(said, "none of the 2 files in "));
	assert_non_null(strstr(said, "has the build ID of bare"));
	free(said);
	assert_null(symbolizer_take_unfit(fixture.symbolizer));
	end_with_store(&fixture, store);
}

static void test_debuglink(void **state)
{
	static const char *const places[] = { "bare.debug", ".debug/bare.debug", "store/bare.debug",
					      "store$PWD/bare.debug" };
	struct fixture fixture;
	char store[64];
	size_t i;

	(void)state;
	begin_with_store(&fixture, store);
	build(&fixture, "-Wl,--build-id=none");
	fixture_run(&fixture, "mkdir -p .debug store$PWD && cp full.debug bare.debug && "
			      "objcopy --add-gnu-debuglink=bare.debug bare && rm bare.debug");
	assert_bare(&fixture, fixture_module(&fixture, "bare"));
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		fixture_run(&fixture, "cp full.debug %s", places[i]);
		assert_complete(&fixture, fixture_module(&fixture, "bare"));
		/* One byte more: all of it is there, but the checksum is another. */
		fixture_run(&fixture, "printf x >>%s", places[i]);
		assert_bare(&fixture, fixture_module(&fixture, "bare"));
		fixture_run(&fixture, "rm %s", places[i]);
	}
	end_with_store(&fixture, store);
}

/* A wrong file in front of the right one does not hide it. */
static void test_debuglink_goes_on(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, NULL);
	build(&fixture, "-Wl,--build-id=none");
	fixture_run(&fixture, "mkdir .debug && cp full.debug bare.debug && "
			      "objcopy --add-gnu-debuglink=bare.debug bare && "
			      "mv bare.debug .debug && cp full bare.debug");
	assert_complete(&fixture, fixture_module(&fixture, "bare"));
	fixture_run(&fixture, "rm bare.debug && mkfifo bare.debug");
	assert_complete(&fixture, fixture_module(&fixture, "bare"));
	fixture_end(&fixture);
}

/* A .gnu_debugdata section, made as Fedora's find-debuginfo makes it: function symbols only, compressed. */
static void test_mini_debug_info(void **state)
{
	const struct symbol_list *names;
	struct fixture fixture;
	uint32_t module;

	(void)state;
	fixture_begin(&fixture, NULL);
	build(&fixture, "");
	fixture_run(&fixture,
		    "nm -D full --format=posix --defined-only | cut -d' ' -f1 | sort >exported && "
		    "nm full --format=posix --defined-only | "
		    "awk '$2 == \"T\" || $2 == \"t\" { print $1 }' | sort >functions && "
		    "comm -13 exported functions >wanted");
	fixture_run(&fixture, "objcopy -S --remove-section .gdb_index --remove-section .comment "
			      "--keep-symbols=wanted full.debug mini && xz mini && "
			      "objcopy --add-section .gnu_debugdata=mini.xz bare");
	module = fixture_module(&fixture, "bare");
	names = fixture_lookup(&fixture, module, offset_of(&fixture, "hidden_one"));
	assert_int_equal(names->count, 1);
	assert_string_equal(names->items[0].function, "hidden_one");
	assert_null(names->items[0].file);
	names = fixture_lookup(&fixture, module, offset_of(&fixture, "exported_one"));
	assert_string_equal(names->items[0].function, "exported_one");
	fixture_end(&fixture);
}

/* A process whose root is a folder of the fixture; 0 where that is not permitted. */
static pid_t start_in_root(struct fixture *fixture, const char *name)
{
	char *root = fixture_path(fixture, name), ready = 0;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		if ((chroot(root) && (unshare(CLONE_NEWUSER) || chroot(root))) ||
		    write(ends[1], "r", 1) != 1)
			_exit(1);
		pause();
	}
	close(ends[1]);
	free(root);
	if (read(ends[0], &ready, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ends[0]);
	return pid;
}

static uint32_t module_in_root(struct fixture *fixture, pid_t pid)
{
	uint32_t module = fixture_module(fixture, "bare");

	fixture->modules.items[module]->root_pid = pid;
	return module;
}

/*
 * Debug files of a container: symbolic links lead to where they lead within it, and never out of it.
 */
static void test_root_of_the_target(void **state)
{
	struct fixture fixture;
	pid_t inside, outside;

	(void)state;
	fixture_begin(&fixture, NULL);
	build(&fixture, "");
	fixture_run(&fixture, STORE("store"));
	fixture_run(&fixture,
		    "for root in inside outside; do mkdir -p $root/usr/lib/debug; done && "
		    "cp -r store inside/kept && ln -s /kept/.build-id inside/usr/lib/debug && "
		    "ln -s $PWD/store/.build-id outside/usr/lib/debug");
	inside = start_in_root(&fixture, "inside");
	outside = start_in_root(&fixture, "outside");
	if (inside && outside) {
		assert_complete(&fixture, module_in_root(&fixture, inside));
		assert_bare(&fixture, module_in_root(&fixture, outside));
	}
	if (inside && !kill(inside, SIGKILL))
		waitpid(inside, NULL, 0);
	if (outside && !kill(outside, SIGKILL))
		waitpid(outside, NULL, 0);
	fixture_end(&fixture);
	if (!inside || !outside)
		skip();
}

/* What may have the names of a file of a root; NULL = one that is in none. `shown`: what /proc shows of it begins with the root. */
static void check_hint(struct fixture *fixture, pid_t pid, const char *root, bool shown,
		       const char *expected)
{
	static const char inside[] = "/usr/lib/libfoo.so.1";
	char *path = root ? memory_format("%s%s", root, inside) : memory_copy_string("bare");
	uint32_t number = fixture_module(fixture, path);
	struct module *module = fixture->modules.items[number];
	uint64_t offset = offset_of(fixture, "hidden_one");
	const struct frame frame = { .kind = FRAME_NATIVE, .module = number, .offset = offset + 1 };
	struct stat status;

	assert_int_equal(fstat(module->fd, &status), 0);
	module->file_device = status.st_dev;
	module->file_inode = status.st_ino;
	if (!shown) {
		free(module->path);
		module->path = memory_copy_string(inside);
	}
	module->root_pid = pid;
	module->build_id_size = 2;
	memcpy(module->build_id, "\xab\xcd", 2);
	/* Before it has been looked up, nothing is missing. */
	assert_null(symbolizer_hint(fixture->symbolizer, &frame));
	assert_null(fixture_lookup(fixture, number, offset)->items[0].function);
	assert_string_equal(symbolizer_hint(fixture->symbolizer, &frame), expected);
	/* A function that has a name needs none. */
	offset = offset_of(fixture, "exported_one");
	assert_non_null(fixture_lookup(fixture, number, offset)->items[0].function);
	assert_null(symbolizer_hint(
		fixture->symbolizer,
		&(struct frame){ .kind = FRAME_NATIVE, .module = number, .offset = offset + 1 }));
	free(path);
}

#define NO_SYMBOLS "libfoo.so.1 has no symbols: "
#define NO_PACKAGE NO_SYMBOLS "an unstripped file of build ID abcd in --debug-dir would have them"

/* Roots that differ in what /etc/os-release is: a file, or what should keep a reader busy or lead it out. */
static void test_hints_by_root(void **state)
{
	static const struct {
		const char *root, *make, *hint;
	} cases[] = {
		{ "debian", "echo ID=debian > debian/etc/os-release",
		  NO_SYMBOLS
		  "libfoo1-dbgsym (Debian's debug archive) or --debuginfod may have them" },
		{ "other",
		  "echo ID=debian > other/etc/os-release && "
		  "echo /usr/lib/libfoo.so.2 > other/var/lib/dpkg/info/libfoo1:amd64.list",
		  NO_SYMBOLS "the -dbgsym package (Debian's debug archive) of what dpkg -S "
			     "libfoo.so.1 names or --debuginfod may have them" },
		{ "alpine",
		  "echo ID=alpine > alpine/usr/lib/os-release && "
		  "ln -s ../usr/lib/os-release alpine/etc/os-release",
		  NO_SYMBOLS "the -dbg package of what apk info --who-owns /usr/lib/libfoo.so.1 "
			     "names may have them" },
		{ "none", "true", NO_PACKAGE },
		{ "fifo", "mkfifo fifo/etc/os-release", NO_PACKAGE },
		{ "long",
		  "{ head -c 1000000 /dev/zero; echo; echo ID=debian; } > long/etc/os-release",
		  NO_PACKAGE },
		{ "out", "echo ID=debian > release && ln -s $PWD/release out/etc/os-release",
		  NO_PACKAGE },
	};
	struct fixture fixture;
	bool skipped = false;
	size_t i;

	(void)state;
	fixture_begin(&fixture, NULL);
	build(&fixture, "");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]) && !skipped; i++) {
		pid_t pid;

		fixture_run(&fixture,
			    "mkdir -p %s/etc %s/usr/lib %s/var/lib/dpkg/info && "
			    "cp bare %s/usr/lib/libfoo.so.1 && "
			    "echo /usr/lib/libfoo.so.1 > %s/var/lib/dpkg/info/libfoo1:amd64.list",
			    cases[i].root, cases[i].root, cases[i].root, cases[i].root,
			    cases[i].root);
		fixture_run(&fixture, "%s", cases[i].make);
		pid = start_in_root(&fixture, cases[i].root);
		skipped = !pid;
		if (skipped)
			break;
		check_hint(&fixture, pid, cases[i].root, false, cases[i].hint);
		check_hint(&fixture, pid, cases[i].root, true, cases[i].hint);
		/* Another file has its place by now: a root of another process, perhaps. */
		check_hint(&fixture, pid, NULL, false, NO_PACKAGE);
		if (!kill(pid, SIGKILL))
			waitpid(pid, NULL, 0);
		check_hint(&fixture, pid, cases[i].root, false, NO_PACKAGE);
	}
	fixture_end(&fixture);
	if (skipped)
		skip();
}

/* Servers are asked if that was wished, and otherwise not, whatever the environment says. */
static void test_debuginfod(void **state)
{
	struct symbolizer_options options = { .debuginfod = true };
	char *url, *cache;
	struct fixture fixture;

	(void)state;
	fixture_begin(&fixture, NULL);
	build(&fixture, "");
	fixture_run(&fixture,
		    "id=$(readelf -n full | sed -n 's/.*Build ID: //p') && "
		    "mkdir -p server/buildid/$id && cp full.debug server/buildid/$id/debuginfo");
	url = memory_format("file://%s/server", fixture.folder);
	cache = fixture_path(&fixture, "cache");
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	assert_bare(&fixture, fixture_module(&fixture, "bare"));
	assert_int_equal(access(cache, F_OK), -1);
	symbolizer_free(fixture.symbolizer);
	fixture.symbolizer = symbolizer_new(&fixture.modules, &options);
	assert_complete(&fixture, fixture_module(&fixture, "bare"));
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_CACHE_PATH");
	free(url);
	free(cache);
	fixture_end(&fixture);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_build_id_in_chosen_directory),
		cmocka_unit_test(test_build_id_of_another),
		cmocka_unit_test(test_build_id_anywhere),
		cmocka_unit_test(test_nothing_fits),
		cmocka_unit_test(test_debuglink),
		cmocka_unit_test(test_debuglink_goes_on),
		cmocka_unit_test(test_mini_debug_info),
		cmocka_unit_test(test_root_of_the_target),
		cmocka_unit_test(test_hints_by_root),
		cmocka_unit_test(test_debuginfod),
	};

	(void)argc;
	fork_server_main(argv, worker_run);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
