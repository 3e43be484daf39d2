/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of /proc/PID. Everything read here is untrusted: names may hold any byte. */
#ifndef SYSTEM_PROC_H
#define SYSTEM_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/timed_call.h"
#include "system/cgroup.h"
#include "system/regular_file.h"

/*
 * Is `proc_root` there, and does it number processes as the caller does, whose pid is `self`? Returns 0, or a negative
 * errno with `error` filled (ERROR_PERMISSION).
 */
int proc_check(const char *proc_root, pid_t self, struct error *error);

/* One line of /proc/PID/maps. */
struct proc_mapping {
	uint64_t start, end;
	uint64_t file_offset; /* bytes */
	uint64_t device; /* as makedev(); on overlayfs and btrfs not st_dev */
	uint64_t inode;
	bool readable, writable, executable, shared;
	bool deleted; /* the line ended in " (deleted)"; the path is without it */
	char *path; /* owned, \012 is a newline again; "" for anonymous memory; "[heap]", ... */
};

struct proc_map_list {
	struct proc_mapping *items;
	size_t count, capacity;
	bool cut; /* there were more than any honest process has */
};

/*
 * The mappings of a process in address order. `proc_root` is "/proc", or a folder of a test. Malformed lines are skipped.
 * Returns 0, or a negative errno with `*ret_list` untouched. -ESRCH: the process has gone. pid 0 is the caller.
 */
int proc_read_maps(const char *proc_root, pid_t pid, struct proc_map_list *ret_list);
/*
 * The same of "/proc", where the process may make the kernel wait for as long as it likes (a page
 * fault in a file whose server does not answer, while the mappings are locked): -ETIMEDOUT. `code`:
 * only what is executable. `patience` is the process's; zeroed at first.
 */
int proc_read_maps_within(pid_t pid, bool code, struct call_patience *patience,
			  struct proc_map_list *ret_list);
/* Parse text in the format of /proc/PID/maps; for tests and fuzzing. */
void proc_parse_maps(const char *text, size_t length, struct proc_map_list *ret_list);
void proc_map_list_free(struct proc_map_list *list);

/* Append all processes that `proc_root` has. Returns 0 or a negative errno. */
int proc_list_pids(const char *proc_root, struct pid_list *list);

struct proc_status {
	char comm[16];
	pid_t pid; /* of the thread group */
	pid_t namespace_pid; /* innermost NSpid */
	pid_t parent_pid; /* 0 = none in this pid namespace */
	char state; /* R, S, D, Z, T, ... */
	uid_t uid; /* effective */
	int seccomp; /* 0 none, 1 strict, 2 filter */
	pid_t tracer_pid; /* ptracer, 0 = none */
	uint64_t rss_bytes, swap_bytes;
	uint64_t mapped_bytes;
	uint64_t hugetlb_bytes; /* not in rss_bytes */
	uint64_t table_bytes; /* of page tables */
	uint64_t threads;
};

/* Returns 0 or a negative errno (-ESRCH: no such process). What a text lacks is 0. */
int proc_read_status(const char *proc_root, pid_t pid, struct proc_status *ret_status);
void proc_parse_status(const char *text, size_t length, struct proc_status *ret_status);

/*
 * The resident memory of a process, and nothing else: without a look at its mappings. 0 of one that has ended and is not gone.
 * Returns 0, or a negative errno with `*ret_bytes` untouched.
 */
int proc_read_rss(const char *proc_root, pid_t pid, uint64_t *ret_bytes);

/*
 * The process's share of the pages that it has (PSS), in bytes. The kernel walks all of its page tables for that, mapping by mapping,
 * and holds the lock of its mappings meanwhile, for 20 ms where it has 1 GB: not for large processes. It may wait for that lock for
 * as long as the process likes: -ETIMEDOUT, as proc_read_maps_within. Returns 0, or a negative errno with `*ret_bytes` untouched.
 */
int proc_read_pss_within(pid_t pid, struct call_patience *patience, uint64_t *ret_bytes);
/* Parse text in the format of /proc/PID/smaps_rollup. False if it has no such line. */
bool proc_parse_pss(const char *text, size_t length, uint64_t *ret_bytes);

/* Target of /proc/PID/exe; " (deleted)" only where it belongs to the name. NULL if it cannot be read (kernel thread, gone). Free with free(). */
char *proc_read_exe(const char *proc_root, pid_t pid);

/* Where a process sees its files. */
struct proc_place {
	/* Its working directory, as the process itself sees it; that of a directory that was removed, too. NULL = unknown */
	char *directory;
	/* Its root directory as /proc shows it: what its paths in /proc begin with. NULL = "/", or unknown. */
	char *root;
	uint64_t mount_namespace; /* an inode; 0 = unknown */
};

/* Never fails. Free with proc_place_free. */
void proc_read_place(const char *proc_root, pid_t pid, struct proc_place *ret_place);
void proc_place_free(struct proc_place *place);

/*
 * Has the process any memory of its own? Before it counts as ended it gives it up, and so does a first thread that ends
 * alone: what is read of its mappings then ends early, or is empty. True also if that may not be known.
 */
bool proc_has_memory(const char *proc_root, pid_t pid);

/*
 * The thread by which the memory and the files of a process are to be read, in /proc as a process: `pid`, or another one where the
 * first thread has ended alone. `pid` also where there is none.
 */
pid_t proc_memory_thread(const char *proc_root, pid_t pid);

/*
 * How many file descriptors a process has open: at most 2^20 are counted. Returns 0, or a negative errno with `*ret_count`
 * untouched.
 */
int proc_count_files(const char *proc_root, pid_t pid, uint64_t *ret_count);

/* Start time in clock ticks since boot: with the pid it identifies a process. Returns 0 or a negative errno. */
int proc_read_start_time(const char *proc_root, pid_t pid, uint64_t *ret_ticks);

/*
 * Where the environment of the program that a process runs lies in its memory. /proc/PID/environ reads that memory without
 * a limit of time; process_memory_read_present does not. Returns 0 or a negative errno (-ENODATA: there is none, or it
 * may not be known).
 */
int proc_read_environment_range(const char *proc_root, pid_t pid, uint64_t *ret_start,
				uint64_t *ret_end);

/* Where the arguments of a program lie in the memory of its process, and the environment that follows them. */
struct proc_arguments {
	uint64_t start, end;
	uint64_t environment_end; /* `end` if the environment lies elsewhere */
};

/* Returns 0, or a negative errno (-ENODATA: there are none, or it may not be known) with `*ret_range` untouched. */
int proc_read_arguments_range(const char *proc_root, pid_t pid, struct proc_arguments *ret_range);

/* The device and inode by which /proc/PID/maps would name an open file: it is mapped for a moment. */
bool proc_identify_file(int fd, uint64_t *ret_device, uint64_t *ret_inode);

/*
 * Open `path` as seen from /proc/PID/root as an O_PATH descriptor, or from the tracer's own root if `pid` is 0.
 * Symbolic links cannot lead out of that root; with `resolve` RESOLVE_NO_SYMLINKS (0 = with none of it) none is followed.
 * Returns a negative errno on failure.
 */
int proc_open_in_root(const char *proc_root, pid_t pid, const char *path, uint64_t resolve);

/* The file behind a mapping. */
struct mapped_file {
	const struct proc_mapping *mapping;
	uint64_t copy_max; /* bytes, should the file have to be copied (regular_file.h) */
	struct file_origin origin; /* filled in when it is opened; `place` is the caller's */
};

/*
 * Open the file behind a mapping, and never another one: through /proc/PID/map_files; where that is not permitted,
 * by its path, as the process and as the tracer sees it. What was found is mapped for a moment, and is right if the
 * kernel gives our mapping the same device and inode. Returns an O_RDONLY descriptor of a regular file,
 * or a negative errno: -ESTALE if the path leads to another file now; -ETIMEDOUT, -EFBIG as regular_file_reopen.
 */
int proc_open_mapping(const char *proc_root, pid_t pid, struct mapped_file *file);

/*
 * The file behind a mapping as an O_PATH descriptor, which is of no use to read from: through /proc/PID/map_files, or
 * by its path if the file there has the same inode. Whatever it is, nothing is asked of it. Returns a negative errno on failure.
 */
int proc_open_mapping_path(const char *proc_root, pid_t pid, const struct proc_mapping *mapping);

#endif
