/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See target.h. */
#include "model/target.h"

#include <stdlib.h>

#include "base/memory.h"

struct target *target_copy(const struct target *target)
{
	struct target *copy = memory_alloc(1, sizeof(*copy));

	*copy = *target;
	copy->pidfd = -1;
	copy->exe = memory_copy_string(target->exe);
	copy->directory = memory_copy_string(target->directory);
	copy->root = memory_copy_string(target->root);
	copy->late = lateness_copy(target->late);
	return copy;
}

void target_clear(struct target *target)
{
	free(target->exe);
	free(target->directory);
	free(target->root);
	lateness_free(target->late);
}

uint64_t target_files_grown(const struct target *target)
{
	if (!target->files_known || target->files < target->files_first)
		return 0;
	return target->files - target->files_first;
}

void target_free(struct target *target)
{
	if (!target)
		return;
	target_clear(target);
	free(target);
}
