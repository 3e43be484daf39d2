/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last step of a container's start: `enter ROOT USER PROGRAM ARG...` makes a mounted folder the root of its mount
 * namespace, without a trace of the old one, becomes the user of this number and executes a program of the new root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned int user;

	if (argc < 4)
		return 2;
	user = (unsigned int)atoi(argv[2]);
	/* With twice the same folder the old root is over the new one, where it can be taken away. */
	if (chdir(argv[1]) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) ||
	    chdir("/") || setgid(user) || setuid(user)) {
		perror("enter");
		return 1;
	}
	execv(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
