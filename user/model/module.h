/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is mapped into targets: what a frame's offset refers to. A module outlives the process
 * that mapped it, so that names can still be found after the target has ended.
 */
#ifndef MODEL_MODULE_H
#define MODEL_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 64
#define MODULE_NONE UINT32_MAX

struct module {
	char *path; /* as the target sees it, without " (deleted)" */
	int fd; /* the mapped file itself, readable; -1 = could not be opened */
	uint64_t device, inode; /* as /proc/PID/maps shows them */
	size_t build_id_size; /* bytes; 0 = none */
	unsigned char build_id[BUILD_ID_MAX];
	int root_pid; /* a process whose /proc/PID/root the path is seen from */
};

/* All modules of a run; an index into `items` names a module for the whole run. */
struct module_list {
	struct module **items;
	size_t count, capacity;
};

/* Takes ownership of `module` (from memory_alloc) and returns its index. */
uint32_t module_list_add(struct module_list *list, struct module *module);
/* The module of an index, or NULL for MODULE_NONE. */
struct module *module_list_get(const struct module_list *list, uint32_t index);
/* Index of the module with this device, inode and path, or MODULE_NONE. */
uint32_t module_list_find(const struct module_list *list, uint64_t device, uint64_t inode,
			  const char *path);
/* The build ID in lower-case hexadecimal, "" if there is none. Returns `text`. */
const char *module_format_build_id(const struct module *module, char text[2 * BUILD_ID_MAX + 1]);
/* Close the files and free everything. */
void module_list_free(struct module_list *list);

#endif
