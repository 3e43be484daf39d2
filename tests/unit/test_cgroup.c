/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups in a tree of folders as the runtimes make them; the layouts are those of Docker, containerd, CRI-O and Podman with
 * both of their cgroup drivers, as their documentation and sources have them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "system/cgroup.h"
#include "unit/scratch.h"

#define FILL "1122334455667788990011223344556677889900112233445566"
#define ID(start) start FILL

static const struct {
	const char *id, *folder;
} layouts[] = {
	{ ID("d0c0a0000001"), "system.slice/docker-" ID("d0c0a0000001") ".scope" },
	{ ID("d0c0a0000002"), "docker/" ID("d0c0a0000002") },
	{ ID("c0de00000003"),
	  "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice"
	  "/cri-containerd-" ID("c0de00000003") ".scope" },
	{ ID("c0de00000004"), "kubepods/besteffort/pod1-2/" ID("c0de00000004") },
	{ ID("c0de00000005"), "system.slice/containerd.service/kubepods-burstable-pod3.slice"
			      ":cri-containerd:" ID("c0de00000005") },
	{ ID("c410a0000006"),
	  "kubepods.slice/kubepods-pod5.slice/crio-" ID("c410a0000006") ".scope" },
	{ ID("b0da00000007"), "machine.slice/libpod-" ID("b0da00000007") ".scope" },
	{ ID("b0da00000008"), "user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID(
				      "b0da00000008") ".scope" },
};

#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* A group, and the groups above it. */
static void make_group(const struct scratch *root, const char *folder, const char *pids)
{
	assert_int_equal(scratch_run("cd '%s' && at=. && IFS=/ && for name in $(echo '%s'); do "
				     "at=$at/$name; mkdir -p \"$at\"; touch \"$at/cgroup.procs\"; "
				     "done && printf '%s' > \"$at/cgroup.procs\"",
				     root->path, folder, pids),
			 0);
}

static void check_found(const struct scratch *root, const char *id, const char *folder)
{
	struct error error = { 0 };
	char *found = cgroup_find_container(root->path, id, &error);
	char *expected = memory_format("%s/%s", root->path, folder);

	if (!found)
		fail_msg("%s: %s", id, error.text);
	assert_string_equal(found, expected);
	free(found);
	free(expected);
}

static void check_not_found(const struct scratch *root, const char *id, enum error_kind kind)
{
	struct error error = { 0 };

	assert_null(cgroup_find_container(root->path, id, &error));
	assert_int_equal(error.kind, kind);
	assert_non_null(strstr(error.text, id));
}

static void test_containers(void **state)
{
	struct scratch root = scratch_make();
	char short_id[13];
	size_t i;

	(void)state;
	for (i = 0; i < LAYOUTS; i++)
		make_group(&root, layouts[i].folder, "");
	make_group(&root, "kubepods.slice/crio-conmon-" ID("c410a0000006") ".scope", "");
	make_group(&root, "machine.slice/libpod-conmon-" ID("b0da00000007") ".scope", "");
	make_group(&root, "system.slice/d0c0a0000001.service", "");
	for (i = 0; i < LAYOUTS; i++) {
		check_found(&root, layouts[i].id, layouts[i].folder);
		memcpy(short_id, layouts[i].id, 12);
		short_id[12] = '\0';
		check_found(&root, short_id, layouts[i].folder);
	}
	check_not_found(&root, "d0c0a00", ERROR_USAGE); /* two begin so */
	check_not_found(&root, "ffff", ERROR_TARGET);
	check_not_found(&root, "d0c", ERROR_USAGE);
	check_not_found(&root, "../../..", ERROR_USAGE);
	check_not_found(&root, ID("d0c0a0000001") "0", ERROR_USAGE);
	check_not_found(&(struct scratch){ "/no/such/folder" }, "d0c0a0000001", ERROR_TARGET);
	scratch_remove(&root);
}

/* Version 1: one tree for each controller, with the same container in each. */
static void test_hierarchies(void **state)
{
	struct scratch root = scratch_make();
	struct error error = { 0 };
	char *found, *expected;

	(void)state;
	make_group(&root, "memory/docker/" ID("d0c0a0000001"), "");
	make_group(&root, "pids/docker/" ID("d0c0a0000001"), "");
	found = cgroup_find_container(root.path, "d0c0a0000001", &error);
	assert_non_null(found);
	assert_non_null(strstr(found, "/docker/" ID("d0c0a0000001")));
	free(found);
	make_group(&root, "pids/system.slice/x.service", "");
	found = cgroup_find(root.path, "/system.slice/x.service", &error);
	expected = memory_format("%s/pids/system.slice/x.service", root.path);
	assert_non_null(found);
	assert_int_equal(access(expected, F_OK), 0);
	assert_non_null(strstr(found, "/system.slice/x.service"));
	free(found);
	found = cgroup_find("/no/such/root", expected, &error);
	assert_string_equal(found, expected);
	free(found);
	free(expected);
	assert_null(cgroup_find(root.path, "/system.slice/y.service", &error));
	assert_int_equal(error.kind, ERROR_TARGET);
	error = (struct error){ 0 };
	assert_null(cgroup_find(root.path, "/../x", &error));
	assert_int_equal(error.kind, ERROR_USAGE);
	scratch_remove(&root);
}

/* Two groups with the whole id of one container, in one hierarchy: which of them is the container is not known. */
static void test_impostor(void **state)
{
	static const char *const roots[] = { "", "unified" };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct scratch root = scratch_make();
		char *prefix = memory_format("%s%s", roots[i], *roots[i] ? "/" : "");
		char *real =
			memory_format("%ssystem.slice/docker-" ID("d0c0a0000001") ".scope", prefix);
		char *impostor = memory_format("%sa.slice/" ID("d0c0a0000001"), prefix);

		/* Without a name of its own the folder is a hierarchy itself. */
		if (!*roots[i])
			assert_int_equal(scratch_run("touch %s/cgroup.procs", root.path), 0);
		make_group(&root, real, "");
		check_found(&root, "d0c0", real);
		make_group(&root, impostor, "");
		check_not_found(&root, ID("d0c0a0000001"), ERROR_USAGE);
		check_not_found(&root, "d0c0", ERROR_USAGE);
		free(impostor);
		free(real);
		free(prefix);
		scratch_remove(&root);
	}
}

static void own_group(const struct scratch *root, const char *folder, unsigned int user)
{
	char *path = scratch_path(root, folder);

	make_group(root, folder, "");
	assert_int_equal(chown(path, user, user), 0);
	free(path);
}

/* A group that a user has made is none of root's containers; containers of users can be found as long as there is one. */
static void test_users_groups(void **state)
{
	struct scratch root = scratch_make();

	(void)state;
	if (geteuid()) {
		scratch_remove(&root);
		skip();
	}
	assert_int_equal(scratch_run("touch %s/cgroup.procs", root.path), 0);
	make_group(&root, "user.slice/u1.service", "");
	own_group(&root, "user.slice/u1.service/libpod-" ID("b0da00000008") ".scope", 1000);
	check_found(&root, "b0da", "user.slice/u1.service/libpod-" ID("b0da00000008") ".scope");
	own_group(&root, "user.slice/u1.service/" ID("b0da00000007"), 1000);
	check_not_found(&root, "b0da", ERROR_USAGE);
	own_group(&root, "user.slice/u2.service/" ID("b0da00000007"), 1001);
	check_not_found(&root, ID("b0da00000007"), ERROR_USAGE);
	make_group(&root, "zz.slice/" ID("b0da00000007"), "");
	check_found(&root, ID("b0da00000007"), "zz.slice/" ID("b0da00000007"));
	check_found(&root, "b0da", "zz.slice/" ID("b0da00000007"));
	scratch_remove(&root);
}

/* Processes of the groups below count; one of another pid namespace, which shows as 0, cannot be named. */
static void test_list(void **state)
{
	struct scratch root = scratch_make();
	char *folder;
	struct pid_list list = { 0 };

	(void)state;
	make_group(&root, "a", "10\n20\n");
	make_group(&root, "a/b/c", "0\n30\n");
	make_group(&root, "other", "40\n");
	folder = memory_format("%s/a", root.path);
	assert_int_equal(cgroup_list(folder, &list), 0);
	assert_int_equal(list.count, 3);
	assert_int_equal(list.pids[0], 10);
	assert_int_equal(list.pids[1], 20);
	assert_int_equal(list.pids[2], 30);
	pid_list_free(&list);
	assert_true(cgroup_list("/no/such/folder", &list) < 0);
	free(folder);
	scratch_remove(&root);
}

static void check_unit(const struct scratch *root, const char *name, const char *folder)
{
	struct error error = { 0 };
	char *found = cgroup_find_unit(root->path, name, &error);
	char *expected = memory_format("%s/%s", root->path, folder);

	if (!found)
		fail_msg("%s: %s", name, error.text);
	assert_string_equal(found, expected);
	free(found);
	free(expected);
}

static void check_no_unit(const struct scratch *root, const char *name, enum error_kind kind)
{
	struct error error = { 0 };

	assert_null(cgroup_find_unit(root->path, name, &error));
	assert_int_equal(error.kind, kind);
}

/* Folders as systemd names them. */
static void test_units(void **state)
{
	static const char *const folders[] = {
		"system.slice/nginx.service",
		"system.slice/system-puma.slice/puma@shop.service",
		"init.scope",
		/* A systemd in a container. */
		"system.slice/docker-" ID("d0c0a0000001") ".scope/system.slice/nginx.service",
		"system.slice/docker-" ID("d0c0a0000001") ".scope/system.slice/inner.service",
		/* Services of users. */
		"user.slice/user-1000.slice/user@1000.service/app.slice/sync.service",
		"user.slice/user-1001.slice/user@1001.service/app.slice/sync.service",
		"user.slice/user-1000.slice/session-2.scope",
	};
	struct scratch root = scratch_make();
	size_t i;

	(void)state;
	make_group(&root, ".", "");
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		make_group(&root, folders[i], "");
	check_unit(&root, "nginx", folders[0]);
	check_unit(&root, "nginx.service", folders[0]);
	check_unit(&root, "puma@shop", folders[1]);
	check_unit(&root, "system-puma.slice", "system.slice/system-puma.slice");
	check_unit(&root, "init.scope", folders[2]);
	check_unit(&root, "inner", folders[4]);
	check_unit(&root, "session-2.scope", folders[7]);
	check_no_unit(&root, "sync", ERROR_USAGE); /* of two users */
	check_no_unit(&root, "puma", ERROR_TARGET);
	check_no_unit(&root, "ngin", ERROR_TARGET);
	check_no_unit(&root, "", ERROR_TARGET);
	check_no_unit(&root, "system.slice/nginx.service", ERROR_TARGET);
	check_no_unit(&root, "../nginx", ERROR_TARGET);
	check_no_unit(&(struct scratch){ "/no/such/folder" }, "nginx", ERROR_TARGET);
	scratch_remove(&root);
}

/* Version 1: a unit has a group in each hierarchy. */
static void test_units_of_hierarchies(void **state)
{
	struct scratch root = scratch_make();
	struct error error = { 0 };
	char *found;

	(void)state;
	make_group(&root, "memory/system.slice/nginx.service", "");
	make_group(&root, "systemd/system.slice/nginx.service", "");
	found = cgroup_find_unit(root.path, "nginx", &error);
	assert_non_null(found);
	assert_non_null(strstr(found, "/system.slice/nginx.service"));
	free(found);
	scratch_remove(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_hierarchies),
		cmocka_unit_test(test_impostor),
		cmocka_unit_test(test_users_groups),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_units_of_hierarchies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
