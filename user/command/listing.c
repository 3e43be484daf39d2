/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See listing.h. */
#include "command/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/loader.h"

/* "nobody": containers may have no names of users. */
#define NOBODY 65534u

/*
 * Whom the loader runs as, for user_find; NULL = whoever runs this. Free with free(). A user's own program is read by that
 * user, who may be the only one, and who can run it anyway; root's by nobody.
 */
static char *listing_choose_user(const struct options *options, const char *program)
{
	struct stat status;

	if (options->user)
		return memory_copy_string(options->user);
	if (geteuid())
		return NULL;
	if (stat(program, &status) || !status.st_uid)
		return memory_format("%u:%u", NOBODY, NOBODY);
	return memory_format("%u:%u", status.st_uid, status.st_gid);
}

int listing_read(const struct options *options, struct decoder *decoder, const char *program,
		 bool started, char ***ret_paths, size_t *ret_count, struct error *error)
{
	char *user = listing_choose_user(options, program);
	const struct loader_rights rights = { .reader = { decoder_read_program, decoder },
					      .user = user,
					      .system_only = !started || !geteuid(),
					      .may_fail = started };
	int code = loader_list_libraries(program, &rights, ret_paths, ret_count, error);

	free(user);
	return code;
}

int listing_read_started(const struct options *options, struct decoder *decoder,
			 const char *program, const struct log *log, char ***ret_paths,
			 struct error *error)
{
	struct error missing = { 0 };
	char **paths = NULL;
	size_t count = 0;
	int code = listing_read(options, decoder, program, true, &paths, &count, &missing);

	if (code < 0) {
		loader_list_free(paths, count);
		/* A script without its interpreter: as of the exec, to which it does not come. */
		if (code == -ENOENT)
			return error_set(error, ERROR_NOT_FOUND, code, "cannot run %s: %s", program,
					 missing.text);
		return error_set(error, missing.kind, code, "%s", missing.text);
	}
	if (code)
		log_write(log, LOG_VERBOSE, "libraries are looked for when they are opened: %s",
			  missing.text);
	paths = memory_resize(paths, count + 1, sizeof(*paths));
	paths[count] = NULL;
	*ret_paths = paths;
	return code;
}

void listing_free(char **paths)
{
	size_t count = 0;

	while (paths && paths[count])
		count++;
	loader_list_free(paths, count);
}
