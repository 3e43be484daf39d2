/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See lateness.h. */
#include "model/lateness.h"

#include <stdlib.h>

#include "base/memory.h"

static struct lateness *lateness_of(struct lateness **lateness)
{
	if (!*lateness)
		*lateness = memory_alloc(1, sizeof(**lateness));
	return *lateness;
}

void lateness_add_file(struct lateness **lateness, const char *path, uint64_t ns)
{
	struct lateness *late = lateness_of(lateness);

	if (late->file_count == LATE_FILES_MAX) {
		late->files_unlisted++;
		return;
	}
	late->files[late->file_count++] = (struct late_file){ memory_copy_string(path), ns };
}

void lateness_add_child(struct lateness **lateness, uint64_t ns)
{
	lateness_of(lateness)->child_ns += ns;
}

void lateness_add_shared(struct lateness **lateness)
{
	lateness_of(lateness)->memory_shared++;
}

const struct late_file *lateness_worst_file(const struct lateness *lateness)
{
	const struct late_file *worst = NULL;
	size_t i;

	for (i = 0; lateness && i < lateness->file_count; i++)
		if (!worst || lateness->files[i].ns > worst->ns)
			worst = &lateness->files[i];
	return worst;
}

struct lateness *lateness_copy(const struct lateness *lateness)
{
	struct lateness *copy;
	size_t i;

	if (!lateness)
		return NULL;
	copy = memory_alloc(1, sizeof(*copy));
	*copy = *lateness;
	for (i = 0; i < copy->file_count; i++)
		copy->files[i].path = memory_copy_string(lateness->files[i].path);
	return copy;
}

void lateness_free(struct lateness *lateness)
{
	size_t i;

	for (i = 0; lateness && i < lateness->file_count; i++)
		free(lateness->files[i].path);
	free(lateness);
}
