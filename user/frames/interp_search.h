/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches the mapped files of a process for its interpreter. */
#ifndef INTERP_SEARCH_H
#define INTERP_SEARCH_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "interp/interp_reader.h"
#include "frames/interpreter.h"
#include "model/module.h"

/* Reads a module's file, like frames_table_read_file; the result lives at least as long as the search. */
struct interp_files {
	int (*read)(void *context, uint32_t module, const struct interp_file **ret_file);
	void *context;
};

struct interp_found {
	uint32_t module; /* containing the interpreter; MODULE_NONE = none */
	struct interpreter interpreter;
	bool has_point; /* its function that frees code can be probed: */
	uint64_t point; /* offset of that function in the module's file */
};

/*
 * Search once. `timing` limits reading the mappings of the process; zeroed at first. Returns as
 * interpreter_find, with all of `ret_found` set for 0, otherwise its module; also -ENOENT: no
 * mapped file is an interpreter; -ENOTSUP: its version is unknown; -ESRCH: no such process;
 * -ETIMEDOUT: its mappings could not be read in time.
 */
int interp_search_process(const struct module_list *modules, const struct interp_files *files,
			  struct interp_reader *reader, struct call_patience *timing,
			  struct interp_found *ret_found);

#endif
