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
 * Does `proc_root` exist, and does it show the pid namespace of the caller, whose pid is `self`?
 * Returns 0, or a negative errno with `error` filled (ERROR_PERMISSION).
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
	bool cut; /* truncated: more mappings than PROC_MAPPINGS_MAX */
};

/* Sixteen times what vm.max_map_count allows by default. */
#define PROC_MAPPINGS_MAX (1u << 20)

/*
 * The mappings of a process in address order. `proc_root` is "/proc", or a folder of a test. Malformed lines are skipped.
 * Returns 0, or a negative errno with `*ret_list` untouched. -ESRCH: the process has gone. pid 0 is the caller.
 */
int proc_read_maps(const char *proc_root, pid_t pid, struct proc_map_list *ret_list);
/*
 * The same for "/proc", with a time limit: the process can make the kernel wait indefinitely (a
 * page fault in a file whose server does not answer, while the mappings are locked). Returns
 * -ETIMEDOUT then. `code`: only executable mappings. `patience` belongs to the process; initially
 * zeroed.
 */
int proc_read_maps_within(pid_t pid, bool code, struct call_patience *patience,
			  struct proc_map_list *ret_list);
/* Parse text in the format of /proc/PID/maps; for tests and fuzzing. */
void proc_parse_maps(const char *text, size_t length, struct proc_map_list *ret_list);
void proc_map_list_free(struct proc_map_list *list);

/* Append the pids of all processes. Returns 0 or a negative errno. */
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
	uint64_t hugetlb_bytes; /* not part of rss_bytes */
	uint64_t table_bytes; /* page tables */
	uint64_t threads;
};

/* Returns 0 or a negative errno (-ESRCH: no such process). Missing lines give 0. */
int proc_read_status(const char *proc_root, pid_t pid, struct proc_status *ret_status);
void proc_parse_status(const char *text, size_t length, struct proc_status *ret_status);

/*
 * The resident memory of a process; cheap, since its mappings are not visited. 0 for a zombie.
 * Returns 0, or a negative errno with `*ret_bytes` untouched.
 */
int proc_read_rss(const char *proc_root, pid_t pid, uint64_t *ret_bytes);

/*
 * The proportional share of a process's pages (PSS), in bytes. The kernel walks all page tables for
 * this, mapping by mapping, under the lock of the mappings: 20 ms for 1 GB, so not for large
 * processes. The process can delay that lock indefinitely: -ETIMEDOUT, as proc_read_maps_within.
 * Returns 0, or a negative errno with `*ret_bytes` untouched.
 */
int proc_read_pss_within(pid_t pid, struct call_patience *patience, uint64_t *ret_bytes);
/* Parse text in the format of /proc/PID/smaps_rollup. False if it has no PSS line. */
bool proc_parse_pss(const char *text, size_t length, uint64_t *ret_bytes);

/*
 * Target of /proc/PID/exe; " (deleted)" only if it is part of the name. NULL if it cannot be read
 * (kernel thread, gone). Free with free().
 */
char *proc_read_exe(const char *proc_root, pid_t pid);

/* The file system view of a process. */
struct proc_place {
	/*
	 * Its working directory as the process sees it, even if that was removed. NULL = unknown.
	 */
	char *directory;
	/*
	 * Its root directory as /proc shows it, which is the prefix of its paths there. NULL = "/",
	 * or unknown.
	 */
	char *root;
	uint64_t mount_namespace; /* an inode; 0 = unknown */
};

/* Never fails. Free with proc_place_free. */
void proc_read_place(const char *proc_root, pid_t pid, struct proc_place *ret_place);
void proc_place_free(struct proc_place *place);

/*
 * Does the process still have an address space? It gives it up before it counts as ended, and so
 * does a first thread that exits alone: a read of its mappings then stops early, or is empty. True
 * also if this cannot be read.
 */
bool proc_has_memory(const char *proc_root, pid_t pid);

/*
 * The thread through which /proc shows the memory and files of a process: `pid`, or another one if
 * the first thread has exited alone. `pid` also if there is none.
 */
pid_t proc_memory_thread(const char *proc_root, pid_t pid);

/*
 * Refuse a process whose first thread has no address space: a zombie, one with only its other threads
 * left, or a kernel thread. Returns -ESRCH with `error` filled (ERROR_TARGET).
 */
int proc_refuse_empty(const struct proc_status *status, struct error *error);

/*
 * The number of open file descriptors of a process; counts at most 2^20. Returns 0, or a negative
 * errno with `*ret_count` untouched.
 */
int proc_count_files(const char *proc_root, pid_t pid, uint64_t *ret_count);

/*
 * Start time in clock ticks since boot; together with the pid it identifies a process. Returns 0 or
 * a negative errno.
 */
int proc_read_start_time(const char *proc_root, pid_t pid, uint64_t *ret_ticks);

/*
 * Where the environment of a process lies in its memory. A read of /proc/PID/environ has no time
 * limit; process_memory_read_present has one. Returns 0 or a negative errno (-ENODATA: there is
 * none, or it is not readable).
 */
int proc_read_environment_range(const char *proc_root, pid_t pid, uint64_t *ret_start,
				uint64_t *ret_end);

/* Where the arguments of a process, and the environment that follows them, lie in its memory. */
struct proc_arguments {
	uint64_t start, end;
	uint64_t environment_end; /* `end` if the environment lies elsewhere */
};

/* Returns 0, or a negative errno (-ENODATA: none, or not readable) with `*ret_range` untouched. */
int proc_read_arguments_range(const char *proc_root, pid_t pid, struct proc_arguments *ret_range);

/* The device and inode with which /proc/PID/maps would show an open file; maps it for a moment. */
bool proc_identify_file(int fd, uint64_t *ret_device, uint64_t *ret_inode);

/*
 * Open `path` below /proc/PID/root, or below the tracer's own root if `pid` is 0, as an O_PATH
 * descriptor. Symbolic links cannot lead out of that root; with `resolve` RESOLVE_NO_SYMLINKS (else
 * 0) none is followed. Returns a negative errno on failure.
 */
int proc_open_in_root(const char *proc_root, pid_t pid, const char *path, uint64_t resolve);

/* The file behind a mapping. */
struct mapped_file {
	const struct proc_mapping *mapping;
	uint64_t copy_max; /* bytes; limit if the file must be copied (regular_file.h) */
	struct file_origin origin; /* result of opening; `path_fd` is owned by the caller */
	/* Result: it is not mapped there any more, or its process has ended. */
	bool unmapped;
};

/*
 * Open the file behind a mapping, and never another one: through /proc/PID/map_files, or, without
 * permission, by its path as the process and as the tracer sees it. The file found is mapped for a
 * moment, and accepted if the kernel shows our mapping with the same device and inode. Returns an
 * O_RDONLY descriptor of a regular file, or a negative errno: -ESTALE if the path now leads to
 * another file; -ETIMEDOUT, -EFBIG as regular_file_reopen.
 */
int proc_open_mapping(const char *proc_root, pid_t pid, struct mapped_file *file);

/*
 * Open the file behind a mapping as an O_PATH descriptor, through /proc/PID/map_files, or by its
 * path if that file has the same inode. The file itself is not accessed, whatever it is. Returns a
 * negative errno on failure.
 */
int proc_open_mapping_path(const char *proc_root, pid_t pid, const struct proc_mapping *mapping);

#endif
