/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up users of this system and switches to them, to run a command. */
#ifndef SYSTEM_USER_H
#define SYSTEM_USER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct user {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* supplementary ones, `gid` among them; owned */
	size_t group_count;
};

/*
 * Look up a name in the files passwd and group of directory `etc` ("/etc"). Does not use NSS, whose
 * modules would run their code here; for users defined elsewhere, `text` is "UID:GID", without
 * supplementary groups. Returns 0 with `*ret_user` filled (free with user_free), or a negative
 * errno with `error` filled (ERROR_USAGE).
 */
int user_find(const char *etc, const char *text, struct user *ret_user, struct error *error);

/* The ID of a user by name, as for user_find, or by number. Returns 0 or a negative errno with `error` filled (ERROR_USAGE). */
int user_find_id(const char *etc, const char *text, uid_t *ret_uid, struct error *error);

/*
 * Switch to that user for good, using system calls only: safe in a child forked from a
 * multithreaded process. Returns 0 or a negative errno, possibly after a partial switch.
 */
int user_become(const struct user *user);

/* Accepts {0}. */
void user_free(struct user *user);

#endif
