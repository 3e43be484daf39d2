/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking for the interpreter of a process among the files that it has mapped. */
#ifndef INTERP_SEARCH_H
#define INTERP_SEARCH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp/interp_reader.h"
#include "interp/interpreter.h"
#include "model/module.h"

/* Reader of what a module's file holds, as interp_file_read; the result lives as long as the search at least. */
struct interp_files {
	int (*read)(void *context, uint32_t module, const struct interp_file **ret_file);
	void *context;
};

struct interp_found {
	uint32_t module; /* that holds the interpreter; MODULE_NONE = none does */
	struct interpreter interpreter;
	bool has_point; /* its function that ends code can be probed: */
	uint64_t point; /* offset of that function in the module's file */
};

/*
 * Look once. `timing` is for reading the mappings of the process, zeroed at first. Returns as
 * interpreter_find, with all of `ret_found` filled in if that is 0, and otherwise its module;
 * -ENOENT: nothing that is mapped is an interpreter; -ENOTSUP also: its version is unknown; -ESRCH:
 * there is no such process; -ETIMEDOUT: its mappings could not be read in time.
 */
int interp_search_process(const struct module_list *modules, const struct interp_files *files,
			  struct interp_reader *reader, struct call_patience *timing,
			  struct interp_found *ret_found);

#endif
