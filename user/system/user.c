/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See user.h. */
#include "system/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/units.h"

/* `otherwise`: how a user is given without the file. */
static int user_open_file(const char *etc, const char *name, const char *otherwise, FILE **ret_file,
			  struct error *error)
{
	char *path = memory_format("%s/%s", etc, name);
	int code = 0;

	*ret_file = fopen(path, "re");
	if (!*ret_file) {
		code = -errno;
		error_set(error, ERROR_USAGE, code,
			  "cannot read %s: %s; without it, a user is given by %s", path,
			  strerror(-code), otherwise);
	}
	free(path);
	return code;
}

static void user_add_group(struct user *user, size_t *capacity, gid_t group)
{
	user->groups =
		memory_grow(user->groups, user->group_count, capacity, sizeof(*user->groups));
	user->groups[user->group_count++] = group;
}

static bool user_is_member(const struct group *group, const char *name)
{
	char **member;

	for (member = group->gr_mem; *member; member++)
		if (!strcmp(*member, name))
			return true;
	return false;
}

static int user_read_groups(const char *etc, const char *name, const char *otherwise,
			    struct user *user, struct error *error)
{
	size_t capacity = 0;
	struct group *group;
	FILE *file;
	int code = user_open_file(etc, "group", otherwise, &file, error);

	if (code)
		return code;
	user_add_group(user, &capacity, user->gid);
	while ((group = fgetgrent(file)))
		if (group->gr_gid != user->gid && user_is_member(group, name))
			user_add_group(user, &capacity, group->gr_gid);
	fclose(file);
	return 0;
}

/* The user and group IDs. */
static int user_read_ids(const char *etc, const char *name, const char *otherwise,
			 struct user *user, struct error *error)
{
	struct passwd *passwd;
	FILE *file;
	int code = user_open_file(etc, "passwd", otherwise, &file, error);

	if (code)
		return code;
	while ((passwd = fgetpwent(file)) && strcmp(passwd->pw_name, name) != 0)
		;
	if (passwd) {
		user->uid = passwd->pw_uid;
		user->gid = passwd->pw_gid;
	}
	fclose(file);
	if (!passwd)
		code = error_set(
			error, ERROR_USAGE, -ENOENT,
			"there is no user '%s' in %s/passwd; one from elsewhere is given by %s",
			name, etc, otherwise);
	return code;
}

/* "UID:GID". The highest number means no user to the kernel. */
static bool user_parse_numbers(const char *text, struct user *user)
{
	const char *colon = strchr(text, ':');
	char *number = colon ? memory_format("%.*s", (int)(colon - text), text) : NULL;
	uint64_t uid, gid;
	bool valid = number && units_parse_number(number, UINT32_MAX - 1, &uid) &&
		     units_parse_number(colon + 1, UINT32_MAX - 1, &gid);
	size_t capacity = 0;

	free(number);
	if (!valid)
		return false;
	user->uid = (uid_t)uid;
	user->gid = (gid_t)gid;
	user_add_group(user, &capacity, user->gid);
	return true;
}

int user_find(const char *etc, const char *text, struct user *ret_user, struct error *error)
{
	static const char otherwise[] = "its numbers, as -u UID:GID";
	struct user user = { 0 };
	int code;

	if (user_parse_numbers(text, &user)) {
		*ret_user = user;
		return 0;
	}
	code = user_read_ids(etc, text, otherwise, &user, error);
	if (!code)
		code = user_read_groups(etc, text, otherwise, &user, error);
	if (!code)
		*ret_user = user;
	return code;
}

int user_find_id(const char *etc, const char *text, uid_t *ret_uid, struct error *error)
{
	struct user user = { 0 };
	uint64_t number;
	int code;

	if (units_parse_number(text, UINT32_MAX - 1, &number)) {
		*ret_uid = (uid_t)number;
		return 0;
	}
	code = user_read_ids(etc, text, "its number", &user, error);
	if (!code)
		*ret_uid = user.uid;
	return code;
}

int user_become(const struct user *user)
{
	if (setgroups(user->group_count, user->groups) ||
	    setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return -errno;
	return 0;
}

void user_free(struct user *user)
{
	free(user->groups);
	*user = (struct user){ 0 };
}
