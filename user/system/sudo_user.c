/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sudo_user.h. */
#include "system/sudo_user.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"

/* The last ID is none: fchown leaves what is there. */
static bool sudo_user_read(const char *name, uint64_t *ret_id)
{
	const char *text = getenv(name);

	return text && units_parse_number(text, UINT32_MAX - 1, ret_id);
}

/* The variables of another real user are not those of sudo. */
static bool sudo_user_find(uint64_t *ret_user, uint64_t *ret_group)
{
	return !getuid() && !geteuid() && sudo_user_read("SUDO_UID", ret_user) &&
	       sudo_user_read("SUDO_GID", ret_group);
}

void sudo_user_give(int fd)
{
	uint64_t user, group;

	if (!sudo_user_find(&user, &group) || fchown(fd, (uid_t)user, (gid_t)group))
		return;
}

bool sudo_user_is(uid_t user)
{
	uint64_t found, group;

	return sudo_user_find(&found, &group) && found == user;
}
