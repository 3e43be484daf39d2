/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See listing.h. */
#include "command/listing.h"

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
