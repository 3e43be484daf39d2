/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_classes.h. */
#include "memory/memory_classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "kinds/kind.h"
#include "memory/memory_look.h"
#include "memory/memory_runtimes.h"

/* Classes that are named. */
#define CLASSES_SHOWN 5

struct memory_classes {
	pid_t pid;
	struct memory_report report; /* of which only the runtimes are filled */
};

/* Half a census would be growth, or hide some. */
struct memory_classes *memory_classes_count(pid_t pid, uint64_t until_ns)
{
	const struct memory_wanted wanted = { .until_ns = until_ns,
					      .objects = true,
					      .totals_only = true };
	struct memory_classes *classes = memory_alloc(1, sizeof(*classes));
	struct error error = { 0 };
	struct kind_roots roots = { 0 };
	struct claims *claims;
	struct image *image;
	int code = image_open(pid, until_ns, &image, &error);

	classes->pid = pid;
	if (!code) {
		claims = claims_new();
		memory_runtimes_look(image, &wanted, NULL, claims, &roots, &classes->report);
		kind_roots_free(&roots);
		claims_free(claims);
		code = image_is_alive(image) ? 0 : -ESRCH;
		image_free(image);
	}
	if (!code && classes->report.runtime_count && !deadline_has_passed(until_ns))
		return classes;
	memory_classes_free(classes);
	return NULL;
}

void memory_classes_free(struct memory_classes *classes)
{
	if (!classes)
		return;
	memory_report_free(&classes->report);
	free(classes);
}

bool memory_classes_compare(const struct memory_classes *before, const char *runtime,
			    uint64_t until_ns, struct grown_classes *ret_classes)
{
	struct memory_classes *now = memory_classes_count(before->pid, until_ns);
	bool found = false;
	size_t i;

	if (!now)
		return false;
	memory_growth_find(&now->report, &before->report);
	for (i = 0; i < now->report.runtime_count && !found; i++) {
		found = !strcmp(now->report.runtimes[i].name, runtime);
		if (found)
			memory_growth_list(&now->report.runtimes[i], CLASSES_SHOWN, ret_classes);
	}
	memory_classes_free(now);
	return found;
}
