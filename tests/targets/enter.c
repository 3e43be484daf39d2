/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last step of a container's start: `enter ROOT USER CAPABILITIES PROGRAM ARG...` makes a mounted folder the root of
 * its mount namespace, without a trace of the old one, becomes the user of this number, keeps of all capabilities those
 * of this hexadecimal mask and can have no others, and executes a program of the new root.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int enter_root(const char *root)
{
	/* With twice the same folder the old root is over the new one, where it can be taken away. */
	return chdir(root) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) ||
	       chdir("/");
}

static int enter_user(unsigned int user, unsigned long long keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];
	unsigned long number;

	for (number = 0; number < 64; number++)
		if (!(keep >> number & 1) && prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
			break;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgid(user) || setuid(user))
		return -1;
	for (number = 0; number < 2; number++)
		sets[number].effective = sets[number].permitted = sets[number].inheritable =
			(__u32)(keep >> 32 * number);
	if (syscall(SYS_capset, &header, sets))
		return -1;
	for (number = 0; number < 64; number++)
		if (keep >> number & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0))
			return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	if (enter_root(argv[1]) ||
	    enter_user((unsigned int)atoi(argv[2]), strtoull(argv[3], NULL, 16))) {
		perror("enter");
		return 1;
	}
	execv(argv[4], argv + 4);
	perror(argv[4]);
	return 127;
}
