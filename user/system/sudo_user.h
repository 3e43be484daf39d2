/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user that has run this program by sudo: new files are that user's. */
#ifndef SYSTEM_SUDO_USER_H
#define SYSTEM_SUDO_USER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Give a file that this process has just made to the user and group of SUDO_UID and SUDO_GID. Does
 * nothing unless the process is root's, really and effectively, and both are numbers of an ID; where
 * the file cannot be given, it stays as it is.
 */
void sudo_user_give(int fd);

/* Is a file of this user such a one, of an earlier run? */
bool sudo_user_is(uid_t user);

#endif
