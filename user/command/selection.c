/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See selection.h. */
#include "command/selection.h"

#include <errno.h>

#define CGROUPS "/sys/fs/cgroup"

static int selection_find_cgroup(const struct options *options, struct selector *selector,
				 struct error *error)
{
	selector->kind = SELECT_CGROUP;
	if (options->container)
		selector->folder = cgroup_find_container(CGROUPS, options->container, error);
	else
		selector->folder = cgroup_find(CGROUPS, options->cgroup, error);
	return selector->folder ? 0 : -ENOENT;
}

int selection_read(const struct options *options, struct selector *selector, struct error *error)
{
	if (options->cgroup || options->container)
		return selection_find_cgroup(options, selector, error);
	selector->name = options->comm ? options->comm : options->wait;
	if (selector->name)
		selector->kind = SELECT_NAME;
	else if (options->all)
		selector->kind = SELECT_ALL;
	return 0;
}
