/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file mapped into targets; offsets of frames refer to it. A module outlives the process that
 * mapped it, so that frames can be named after the target has ended. It is closed once all names
 * that will be needed are known, and removed when nothing refers to it.
 */
#ifndef MODEL_MODULE_H
#define MODEL_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

#define BUILD_ID_MAX 64
#define MODULE_NONE UINT32_MAX

/* Not a number of a module. */
#define MODULE_NUMBER_NONE UINT32_MAX

/*
 * Identifies the content of a file: other content, or a later file with the same inode number, has
 * another stamp.
 */
struct module_stamp {
	uint64_t size; /* bytes */
	int64_t modified_ns, changed_ns;
};

struct module {
	char *path; /* as the target sees it, without " (deleted)" */
	int fd; /* the mapped file itself, readable; -1 = could not be opened, or is closed */
	/* O_PATH descriptor of the original, if `fd` is a copy; 0 = `fd` is the original */
	int path_fd;
	/* `fd` is a copy because an ordinary user runs the file's server: not probed */
	bool of_user;
	uint64_t device, inode; /* as /proc/PID/maps shows them */
	uint64_t file_device, file_inode; /* as stat() shows them; 0 = unknown */
	size_t build_id_size; /* bytes; 0 = none */
	unsigned char build_id[BUILD_ID_MAX];
	/* Process in whose root the path is valid, and whose share of descriptors it uses */
	int root_pid;
	uint32_t number; /* unique among all modules of the run */
	struct module_stamp stamp; /* at the time of opening */
	bool closed; /* no process maps it any longer: only its names are usable */
	bool no_fd; /* not opened: too many open files */
	bool unanswered; /* not opened: its file system does not answer */
	bool uncopied; /* not opened: a copy would be too large */
	bool unmapped; /* not opened: it was not mapped any more, or its process had ended */
	bool shared; /* only mapped MAP_SHARED so far: not by a loader, and the kernel takes no probes */
	bool warned_unopened;
	bool missed; /* counted as one that was not open when it should be probed */
	bool expected; /* it will be mapped */
	bool described; /* the build ID and the following fields were read */
	bool is_program; /* it is an ELF file of this machine */
	bool warned_without_tables; /* warned that stacks end in code without unwind tables */
	/* A function through which it may switch stacks; static, NULL = none. */
	const char *switches_by;
	bool stripped; /* a library without .symtab */
	bool allocates; /* defines known allocator functions */
};

/*
 * The modules of a run. An index into `items` names a module until it is removed; then it may be
 * reused.
 */
struct module_list {
	struct module **items; /* NULL = removed */
	size_t count, capacity;
	size_t unused; /* unused entries of `items` */
	size_t open; /* modules with a descriptor */
	size_t limit; /* limit of `open`; 0 = none */
	bool is_shared; /* several processes share the limit */
	struct table shares; /* open modules by process, stored as pointers */
	size_t no_fd; /* modules not opened for lack of descriptors */
	size_t unopened_ever; /* modules never opened because of their file system */
	uint64_t copied; /* bytes of copies */
	size_t no_fd_ever; /* how many there were so far */
	uint32_t added; /* modules added so far */
	size_t opens; /* times a module was added or reopened */
};

/* Takes ownership of `module` (from memory_alloc), gives it a number and returns its index. */
uint32_t module_list_add(struct module_list *list, struct module *module);
/*
 * May a module be opened for a process? One of several processes may not use more than three times
 * what it leaves to others.
 */
bool module_list_may_open(const struct module_list *list, int pid);
/* The module of an index, or NULL for MODULE_NONE and for one that was removed. */
struct module *module_list_get(const struct module_list *list, uint32_t index);
/* Index of the module with this device, inode and path that is not closed, or MODULE_NONE. */
uint32_t module_list_find(const struct module_list *list, uint64_t device, uint64_t inode,
			  const char *path);
/* The same for a closed one whose file was exactly this. */
uint32_t module_list_find_closed(const struct module_list *list, uint64_t device, uint64_t inode,
				 const char *path, const struct module_stamp *stamp);
/*
 * Open a module: takes ownership of the descriptor of its file, and of `path_fd` if `fd` is a copy
 * (otherwise 0).
 */
void module_list_open(struct module_list *list, uint32_t index, int fd, int path_fd);
/* There was no descriptor for a module that is not open. */
void module_list_lack_fd(struct module_list *list, uint32_t index);
/*
 * The descriptor to attach probes to: that of the original, owned by the module; -1 if it is not
 * open.
 */
int module_probe_fd(const struct module *module);
/* Close the descriptor: no process maps the file, and its content is not needed. */
void module_list_close(struct module_list *list, uint32_t index);
/* Remove a module that nothing refers to. */
void module_list_remove(struct module_list *list, uint32_t index);
/*
 * A copy without descriptors, to read paths, build IDs and numbers by the same indices. Free with
 * module_list_free and free().
 */
struct module_list *module_list_copy(const struct module_list *list);
/* The build ID in lower-case hexadecimal, "" if there is none. Returns `text`. */
const char *module_format_build_id(const struct module *module, char text[2 * BUILD_ID_MAX + 1]);
/* Close the files and free everything. */
void module_list_free(struct module_list *list);

#endif
