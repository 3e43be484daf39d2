/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may have symbols: distributions by honest and hostile files, packages by dpkg's lists, and the words for both. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "symbolize/package_hint.h"
#include "system/package_files.h"

#define UNSTRIPPED "an unstripped file of build ID abcd in --debug-dir would have them"

static void check_distribution(const char *text, enum distribution expected)
{
	/* Without a NUL behind it: the sanitizer sees a read beyond the end. */
	size_t size = strlen(text);
	char *copy = memory_alloc(1, size);

	memcpy(copy, text, size);
	assert_int_equal(os_release_parse(copy, size), expected);
	free(copy);
}

static void test_distributions(void **state)
{
	(void)state;
	check_distribution("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"
			   "VERSION_CODENAME=bookworm\nID=debian\n",
			   DISTRIBUTION_DEBIAN);
	check_distribution("ID=ubuntu\nID_LIKE=debian", DISTRIBUTION_UBUNTU);
	check_distribution("ID_LIKE=debian\nID=ubuntu\n", DISTRIBUTION_UBUNTU);
	check_distribution("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", DISTRIBUTION_UBUNTU);
	check_distribution("ID=kali\nID_LIKE=debian\n", DISTRIBUTION_DEBIAN);
	check_distribution("NAME=\"Fedora Linux\"\nID=fedora\n", DISTRIBUTION_FEDORA);
	check_distribution("ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"\n",
			   DISTRIBUTION_FEDORA);
	check_distribution("ID='opensuse-tumbleweed'\nID_LIKE='opensuse suse'\n",
			   DISTRIBUTION_SUSE);
	check_distribution("ID=arch\r\n", DISTRIBUTION_ARCH);
	check_distribution("NAME=\"Alpine Linux\"\nID=alpine", DISTRIBUTION_ALPINE);
	check_distribution("ID=nixos\nPRETTY_NAME=\"NixOS 24.05\"\n", DISTRIBUTION_UNKNOWN);
}

static void test_hostile_releases(void **state)
{
	static const char *const texts[] = { "",
					     "ID=",
					     "ID=\"",
					     "ID_LIKE",
					     "ID=\n\n\n",
					     "=\n=\nID",
					     "VERSION_ID=debian\n#ID=debian\nID=debianish\n",
					     "id=debian\n ID=debian\nID=\x01\xff\x1b[2J\n",
					     "ID=deb\nID_LIKE=ian" };
	static const char with_nul[] = "ID=\0debian\0\nID_LIKE=\0\0fedora\n";
	char longest[OS_RELEASE_MAX];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_distribution(texts[i], DISTRIBUTION_UNKNOWN);
	assert_int_equal(os_release_parse(with_nul, sizeof(with_nul) - 1), DISTRIBUTION_DEBIAN);
	memset(longest, '"', sizeof(longest));
	memcpy(longest, "ID=", strlen("ID="));
	assert_int_equal(os_release_parse(longest, sizeof(longest)), DISTRIBUTION_UNKNOWN);
	memset(longest, '\n', sizeof(longest));
	assert_int_equal(os_release_parse(longest, sizeof(longest)), DISTRIBUTION_UNKNOWN);
}

static bool list_has(const char *list, const char *path)
{
	size_t size = strlen(list);
	char *copy = memory_alloc(1, size);
	bool has;

	memcpy(copy, list, size);
	has = package_files_has(copy, size, path, strlen(path));
	free(copy);
	return has;
}

static void test_package_files(void **state)
{
	static const char list[] = "/.\n/lib\n/lib/x86_64-linux-gnu/libc.so.6\n/usr/lib/a\n";

	(void)state;
	assert_true(list_has(list, "/lib/x86_64-linux-gnu/libc.so.6"));
	assert_true(list_has(list, "/usr/lib/x86_64-linux-gnu/libc.so.6"));
	assert_true(list_has(list, "/usr/lib/a"));
	assert_true(list_has(list, "/lib/a"));
	assert_false(list_has(list, "/lib/x86_64-linux-gnu/libc.so"));
	assert_false(list_has(list, "/lib/x86_64-linux-gnu/libc.so.6.0"));
	assert_false(list_has(list, ""));
	assert_false(list_has(list, "/usr"));
	assert_false(list_has(list, "lib"));
	assert_false(list_has("", "/usr/lib/a"));
	/* Cut in the middle of a line, which may be the beginning of another path. */
	assert_false(list_has("/usr/lib/a", "/usr/lib/a"));
	assert_false(list_has("\n\n/usr", "/usr/lib/a"));
}

/* `context` is the list of packages that have the file, each between blanks. */
static bool is_of(void *context, const char *package)
{
	char *word = memory_format(" %s ", package);
	bool found = strstr(context, word);

	assert_true(strlen(package) < PACKAGE_PATH_MAX);
	assert_int_equal(strspn(package, "abcdefghijklmnopqrstuvwxyz0123456789+-."),
			 strlen(package));
	assert_true(*package != '.' && *package != '-');
	free(word);
	return found;
}

static void check_file(struct package_file file, const char *packages, const char *expected)
{
	char *hint;

	file.is_of = is_of;
	file.context = (void *)(uintptr_t)packages;
	hint = package_hint(&file);
	if (expected)
		assert_string_equal(hint, expected);
	else
		assert_null(hint);
	free(hint);
}

static void check(enum distribution distribution, const char *path, const char *expected)
{
	check_file((struct package_file){ path, distribution, .build_id = "abcd" }, "", expected);
}

static void check_debian(const char *path, const char *package)
{
	char *expected = memory_format("%s-dbgsym (Debian's debug archive) or --debuginfod may "
				       "have them",
				       package);
	char *packages = memory_format(" %s ", package);

	check_file((struct package_file){ path, DISTRIBUTION_DEBIAN, .build_id = "abcd" }, packages,
		   expected);
	free(packages);
	free(expected);
}

static void test_debian(void **state)
{
	static const char foo[] = "/usr/lib/x86_64-linux-gnu/libfoo.so.1";

	(void)state;
	check_debian(foo, "libfoo1");
	check_debian("/usr/lib/x86_64-linux-gnu/libssl.so.3", "libssl3t64");
	check_debian("/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "libstdc++6");
	check_debian("/lib/x86_64-linux-gnu/libz3.so.4", "libz3-4");
	check_debian("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2", "libruby3.1");
	check_debian("/usr/lib/libfoo_bar.so.2", "libfoo-bar2");
	check_debian("/usr/sbin/nginx", "nginx");
	/* Its symbols are not where those of others are. */
	check_file((struct package_file){ "/lib/libc6.so", DISTRIBUTION_DEBIAN }, " libc6 ",
		   "libc6-dbg may have them");
	/* A package that has not the file is not named. */
	check(DISTRIBUTION_DEBIAN, foo,
	      "the -dbgsym package (Debian's debug archive) of what dpkg -S libfoo.so.1 names or "
	      "--debuginfod may have them");
	check_file((struct package_file){ foo, DISTRIBUTION_UBUNTU }, " libfoo1 ",
		   "libfoo1-dbgsym (Ubuntu's ddebs archive) may have them");
	/* Servers that were asked in vain are not named. */
	check_file((struct package_file){ foo, DISTRIBUTION_UBUNTU, "abcd", true }, " libfoo1 ",
		   "libfoo1-dbgsym (Ubuntu's ddebs archive) may have them");
}

static void test_others(void **state)
{
	static const char path[] = "/usr/lib64/libfoo.so.1";

	(void)state;
	check(DISTRIBUTION_FEDORA, path,
	      "dnf debuginfo-install $(rpm -qf /usr/lib64/libfoo.so.1) or --debuginfod may have "
	      "them");
	check(DISTRIBUTION_SUSE, path,
	      "the -debuginfo package of what rpm -qf /usr/lib64/libfoo.so.1 names or --debuginfod "
	      "may have them");
	check(DISTRIBUTION_ARCH, path,
	      "--debuginfod may have them, with DEBUGINFOD_URLS=https://debuginfod.archlinux.org");
	check_file((struct package_file){ path, DISTRIBUTION_ARCH, "abcd", true }, "", UNSTRIPPED);
	check(DISTRIBUTION_ALPINE, path,
	      "the -dbg package of what apk info --who-owns /usr/lib64/libfoo.so.1 names may have "
	      "them");
	check(DISTRIBUTION_UNKNOWN, path, UNSTRIPPED);
	check_file((struct package_file){ path, DISTRIBUTION_UNKNOWN }, "", NULL);
}

/* Of no package, or with a name that would do something in a shell: no command has it. */
static void test_hostile_paths(void **state)
{
	static const char *const paths[] = { "/srv/app/server",	 "/usr/lib/$(reboot).so",
					     "/usr/lib/a;b",	 "/usr/lib/a b",
					     "/usr/lib/a\nb",	 "/usr/bin/`id`",
					     "/usr/lib/-r",	 "/usr/lib/../../srv/x",
					     "/usr/lib/\x1b[2J", "/usr/local/lib/libx.so.1",
					     "[vdso]",		 "" };
	enum distribution distribution;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		for (distribution = 0; distribution < DISTRIBUTION_COUNT; distribution++)
			check_file((struct package_file){ paths[i], distribution, "abcd" },
				   " server a b x libx1 ", UNSTRIPPED);
}

/* Names that no package can have are not looked up: is_of asserts it. */
static void test_hostile_names(void **state)
{
	static const char *const bases[] = {
		"", "..", ".so.-", ".so.1", "-.so.1", "so.so.so", "_"
	};
	char path[180] = "/usr/lib/";
	struct package_file file = { path, DISTRIBUTION_DEBIAN, .is_of = is_of, .context = path };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		strcpy(path + strlen("/usr/lib/"), bases[i]);
		free(package_hint(&file));
	}
	memset(path + strlen("/usr/lib/"), 'a', 150);
	free(package_hint(&file));
	memcpy(path + strlen("/usr/lib/") + 97, ".so.", strlen(".so."));
	free(package_hint(&file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distributions), cmocka_unit_test(test_hostile_releases),
		cmocka_unit_test(test_package_files), cmocka_unit_test(test_debian),
		cmocka_unit_test(test_others),	      cmocka_unit_test(test_hostile_paths),
		cmocka_unit_test(test_hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
