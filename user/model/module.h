/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is mapped into targets: what a frame's offset refers to. A module outlives the process that mapped it, so that
 * names can still be found after the target has ended; it may be closed when all names are known that will be asked for, and
 * removed when nothing refers to it.
 */
#ifndef MODEL_MODULE_H
#define MODEL_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

#define BUILD_ID_MAX 64
#define MODULE_NONE UINT32_MAX

/* The number of what is in no list, and of no module. */
#define MODULE_NUMBER_NONE UINT32_MAX

/* Identifies one content of a file: another content, or a later file with the same inode number, has another stamp. */
struct module_stamp {
	uint64_t size; /* bytes */
	int64_t modified_ns, changed_ns;
};

struct module {
	char *path; /* as the target sees it, without " (deleted)" */
	int fd; /* the mapped file itself, readable; -1 = could not be opened, or is closed */
	int path_fd; /* the file itself as an O_PATH descriptor, if `fd` is a copy of it; 0 = it is none */
	bool of_user; /* `fd` is a copy, as the file's server is a process of a user's: no probe is put in */
	uint64_t device, inode; /* as /proc/PID/maps shows them */
	uint64_t file_device, file_inode; /* as stat does; 0 = not known */
	size_t build_id_size; /* bytes; 0 = none */
	unsigned char build_id[BUILD_ID_MAX];
	int root_pid; /* a process whose /proc/PID/root the path is seen from, and whose share of descriptors it has */
	uint32_t number; /* of all that were ever added: no other one of the run has it */
	struct module_stamp stamp; /* when it was opened */
	bool closed; /* no process maps it any more: only its names can be used */
	bool no_fd; /* it could not be opened because there were too many open files */
	bool unanswered; /* it could not be opened because its file system does not answer */
	bool uncopied; /* it could not be opened because a copy would be too large */
	bool warned_unopened;
	bool missed; /* it was not open when it was to be probed, and its process had ended */
	bool expected; /* it is going to be mapped */
	bool described; /* the build ID and what follows have been asked for */
	bool is_program; /* it is an ELF file of this machine */
	bool warned_without_tables; /* of some of its code, where stacks end */
	/* A function by which it may leave a thread's stack for another one; static, NULL = none. */
	const char *switches_by;
	bool stripped; /* it is a library without a symbol table of its own */
	bool allocates; /* it defines functions that allocate or free, of those that are known */
};

/* The modules of a run; an index into `items` names a module until it is removed. Then it may get another one. */
struct module_list {
	struct module **items; /* NULL = removed */
	size_t count, capacity;
	size_t unused; /* of `items` */
	size_t open; /* modules with a descriptor */
	size_t limit; /* of these; 0 = none */
	bool is_shared; /* several processes are to have some of them */
	struct table shares; /* how many of them by process, as pointers */
	size_t no_fd; /* modules without one for that reason */
	size_t unopened_ever; /* modules without one because of their file system */
	uint64_t copied; /* bytes of copies */
	size_t no_fd_ever; /* how many there have been */
	uint32_t added; /* so far */
	size_t opens; /* how often one was added or opened again */
};

/* Takes ownership of `module` (from memory_alloc), gives it a number and returns its index. */
uint32_t module_list_add(struct module_list *list, struct module *module);
/* May a module be opened for a process? One of several may not have more than three times of what it leaves to others. */
bool module_list_may_open(const struct module_list *list, int pid);
/* The module of an index, or NULL for MODULE_NONE and for one that was removed. */
struct module *module_list_get(const struct module_list *list, uint32_t index);
/* Index of the module with this device, inode and path that is not closed, or MODULE_NONE. */
uint32_t module_list_find(const struct module_list *list, uint64_t device, uint64_t inode,
			  const char *path);
/* The same for one that is closed, whose file was just this. */
uint32_t module_list_find_closed(const struct module_list *list, uint64_t device, uint64_t inode,
				 const char *path, const struct module_stamp *stamp);
/*
 * Give a module the descriptor of its file, and the `path_fd` of it if that is a copy (otherwise
 * 0), which it takes over; it is not closed, and does not lack one, then.
 */
void module_list_open(struct module_list *list, uint32_t index, int fd, int path_fd);
/* Where probes are put in: a descriptor of the file itself, the module's own; -1 if it is not open. */
int module_probe_fd(const struct module *module);
/* No process maps the file, and none of its content is needed: its descriptor is closed. */
void module_list_close(struct module_list *list, uint32_t index);
/* Nothing refers to the module. */
void module_list_remove(struct module_list *list, uint32_t index);
/*
 * A copy for reading names by the same indices: paths, build IDs, numbers, without descriptors. Free with module_list_free and
 * free().
 */
struct module_list *module_list_copy(const struct module_list *list);
/* The build ID in lower-case hexadecimal, "" if there is none. Returns `text`. */
const char *module_format_build_id(const struct module *module, char text[2 * BUILD_ID_MAX + 1]);
/* Close the files and free everything. */
void module_list_free(struct module_list *list);

#endif
