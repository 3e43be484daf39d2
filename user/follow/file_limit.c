/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See file_limit.h. */
#include "follow/file_limit.h"

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

/* Descriptors of the BPF programs, their maps, and of one process. */
#define FILES_MIN 128
#define FILES_REST 256

/* Probes, processes and what is open for a moment need descriptors, too. */
static size_t file_limit_modules(uint64_t files)
{
	uint64_t rest = files / 4 > FILES_REST ? files / 4 : FILES_REST;

	return files > 2 * rest ? (size_t)(files - rest) : (size_t)(files / 2);
}

int file_limit_raise(struct module_list *modules, bool is_shared, struct error *error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	modules->limit = file_limit_modules(limit.rlim_max);
	modules->is_shared = is_shared;
	if (limit.rlim_max >= FILES_MIN)
		return 0;
	return error_set(error, ERROR_PERMISSION, -EMFILE,
			 "this process may open %llu files only, and %d are needed at least: raise "
			 "the hard limit (ulimit -Hn)",
			 (unsigned long long)limit.rlim_max, FILES_MIN);
}
