/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See module_hint.h. */
#include "symbolize/module_hint.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "decode/jobs.h"
#include "symbolize/package_hint.h"
#include "system/proc.h"
#include "system/regular_file.h"
#include "system/remote_file.h"

#define MODULE_NAME_BYTES 100

/* A module in the root of its process. */
struct rooted {
	struct client *client;
	const struct module *module;
	const char *path; /* of the module, as the process sees it */
};

/* Where only the root directory was changed, paths in /proc begin with it. */
static const char *module_hint_inside(const struct module *module, const struct proc_place *place)
{
	const char *below = place->root ? path_below(module->path, place->root) : NULL;

	return below && *below ? below - 1 : module->path;
}

/* Is the module what that root has at its path? The pid may be another process's by now. */
static bool module_hint_is_there(const struct rooted *rooted)
{
	const struct module *module = rooted->module;
	struct stat status;
	bool same;
	int fd;

	if (module->root_pid <= 0 || !module->file_inode)
		return false;
	fd = proc_open_in_root("/proc", module->root_pid, rooted->path, 0);
	if (fd < 0)
		return false;
	/* To ask a server may take for ever. */
	same = remote_file_kind(fd, module->root_pid) == MOUNT_LOCAL && !fstat(fd, &status) &&
	       status.st_dev == module->file_device && status.st_ino == module->file_inode;
	close(fd);
	return same;
}

/* Have the worker do a job for a file of the root, which answers with a number; 0 if anything fails. */
static uint32_t module_hint_ask(const struct rooted *rooted, const char *path, enum decode_job job,
				const struct buffer *question)
{
	const int pid = rooted->module->root_pid;
	struct module file = { .path = (char *)(uintptr_t)path, .number = MODULE_NUMBER_NONE };
	struct buffer answer = { 0 };
	uint32_t number = 0;
	int result;

	file.fd = regular_file_reopen(proc_open_in_root("/proc", pid, path, 0), pid);
	if (file.fd < 0)
		return 0;
	if (!client_read(rooted->client, &file, job, question, &answer, &result) && !result &&
	    answer.length == sizeof(number))
		memcpy(&number, answer.data, sizeof(number));
	buffer_free(&answer);
	close(file.fd);
	return number;
}

static enum distribution module_hint_distribution(const struct rooted *rooted)
{
	static const char *const paths[] = { "/etc/os-release", "/usr/lib/os-release" };
	const struct buffer nothing = { 0 };
	uint32_t found = DISTRIBUTION_UNKNOWN;
	size_t i;

	if (!module_hint_is_there(rooted))
		return DISTRIBUTION_UNKNOWN;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]) && !found; i++)
		found = module_hint_ask(rooted, paths[i], JOB_DISTRIBUTION, &nothing);
	return found < DISTRIBUTION_COUNT ? (enum distribution)found : DISTRIBUTION_UNKNOWN;
}

/* dpkg has a file for each package with the list of its files, whose name has the architecture if there may be several. */
static bool module_hint_is_of(void *context, const char *package)
{
	static const char *const forms[] = { "", ":amd64", ":arm64" };
	const struct rooted *rooted = context;
	struct buffer question = { 0 };
	bool found = false;
	size_t i;

	buffer_append_string(&question, rooted->path);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]) && !found; i++) {
		char *path = memory_format("/var/lib/dpkg/info/%s%s.list", package, forms[i]);

		found = module_hint_ask(rooted, path, JOB_PACKAGE_HAS, &question) == 1;
		free(path);
	}
	buffer_free(&question);
	return found;
}

/* What may have its symbols, by the path that it has in that root; NULL if there is nothing to name. */
static char *module_hint_where(struct rooted *rooted)
{
	const struct module *module = rooted->module;
	struct package_file file = { .path = rooted->path,
				     .asked_servers = rooted->client->search.debuginfod,
				     .is_of = module_hint_is_of,
				     .context = rooted };
	char id[2 * BUILD_ID_MAX + 1];

	if (module->build_id_size)
		file.build_id = module_format_build_id(module, id);
	file.distribution = module_hint_distribution(rooted);
	return package_hint(&file);
}

char *module_hint_new(struct client *client, const struct module *module)
{
	struct rooted rooted = { .client = client, .module = module };
	struct proc_place place = { 0 };
	char *where, *hint = NULL;

	if (!module->path || module->path[0] != '/')
		return NULL;
	if (module->root_pid > 0)
		proc_read_place("/proc", module->root_pid, &place);
	rooted.path = module_hint_inside(module, &place);
	where = module_hint_where(&rooted);
	if (where)
		hint = memory_format("%.*s has no symbols: %s", MODULE_NAME_BYTES,
				     strrchr(module->path, '/') + 1, where);
	free(where);
	proc_place_free(&place);
	return hint;
}
