/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See file_swap.h. */
#include "system/file_swap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/output_file.h"
#include "system/sudo_user.h"

struct swap_names {
	const char *from, *to;
};

static int swap_act(const void *context, bool asked)
{
	const struct swap_names *names = context;
	int code = -EPIPE;

	if (asked)
		code = renameat(HELPER_FD, names->from, HELPER_FD, names->to) ? -errno : 0;
	if (code)
		unlinkat(HELPER_FD, names->from, 0);
	return code;
}

static int swap_make(struct file_swap *swap, int folder, const char *name, const char *path,
		     struct error *error)
{
	char *beside = memory_format("%s.%d.new", name, (int)getpid());
	const struct swap_names names = { .from = beside, .to = name };
	int code = 0;

	swap->fd = output_file_create_in(folder, beside, path, error);
	if (swap->fd < 0)
		code = swap->fd;
	if (!code) {
		sudo_user_give(swap->fd);
		code = helper_start(&swap->helper, &folder, 1, swap_act, &names);
		if (code)
			error_set(error, ERROR_USAGE, code,
				  "cannot start a process that puts '%s' in its place: %s", path,
				  strerror(-code));
	}
	if (code && swap->fd >= 0) {
		unlinkat(folder, beside, 0);
		close(swap->fd);
		swap->fd = -1;
	}
	free(beside);
	return code;
}

int file_swap_open(struct file_swap *swap, const char *path, struct error *error)
{
	const char *name;
	int folder, code = output_file_find(path, &folder, &name, error);

	*swap = FILE_SWAP_NONE;
	if (code < 0)
		return code;
	if (code) {
		code = swap_make(swap, folder, name, path, error);
	} else {
		swap->fd = output_file_open(path, error);
		code = swap->fd < 0 ? swap->fd : 0;
	}
	close(folder);
	return code;
}

int file_swap_commit(struct file_swap *swap)
{
	if (swap->helper.runs && fsync(swap->fd)) {
		const int code = -errno;

		helper_close(&swap->helper);
		return code;
	}
	return helper_ask(&swap->helper);
}

void file_swap_close(struct file_swap *swap)
{
	helper_close(&swap->helper);
	*swap = FILE_SWAP_NONE;
}
