/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that runs an interpreter: its memory, its mappings, its threads' thread pointers, and what it says of its own
 * frames. The child is this test's, so no privilege is needed.
 */
#ifndef TESTS_INTERP_CHILD_H
#define TESTS_INTERP_CHILD_H

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "frames/frames_table.h"
#include "frames/interpreter.h"
#include "system/proc.h"

#define CHILD_RANGES_MAX 4096
#define CHILD_THREADS_MAX 32

struct child {
	pid_t pid;
	int in; /* its standard input: closed, it ends */
	int out;
	struct interp_file file;
	uint64_t start; /* of its first mapping */
	struct memory_range ranges[CHILD_RANGES_MAX];
	size_t range_count;
	pid_t threads[CHILD_THREADS_MAX];
	uint64_t thread_pointers[CHILD_THREADS_MAX];
	size_t thread_count;
};

static inline bool child_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct child *child = context;
	struct iovec to = { bytes, size }, from = { (void *)(uintptr_t)address, size };

	return process_vm_readv(child->pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* Run a command line. It says "ready" on a line of its own when it stands still. */
static inline bool child_start(struct child *child, char *const arguments[])
{
	int in[2], out[2];

	memset(child, 0, sizeof(*child));
	if (pipe(in) || pipe(out))
		return false;
	child->pid = fork();
	if (!child->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execvp(arguments[0], arguments);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	child->in = in[1];
	child->out = out[0];
	return child->pid > 0;
}

static inline void child_end(struct child *child)
{
	close(child->in);
	close(child->out);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

/* What it said up to "ready"; false if it ended before. */
static inline bool child_read_ready(struct child *child, struct buffer *said)
{
	char byte;

	while (read(child->out, &byte, 1) == 1) {
		buffer_append(said, &byte, 1);
		if (said->length >= 6 && !memcmp(said->data + said->length - 6, "ready\n", 6))
			return true;
	}
	return false;
}

/* Does the first mapping of a file hold an interpreter?  */
static inline void child_look_at(struct child *child, const struct proc_mapping *mapping)
{
	struct elf_file *file;
	char path[64];
	int fd;

	if (child->file.kind || mapping->file_offset || !mapping->inode)
		return;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)child->pid,
		 (unsigned long)mapping->start, (unsigned long)mapping->end);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		fd = open(mapping->path, O_RDONLY);
	file = fd < 0 ? NULL : elf_file_open(fd, NULL);
	close(fd);
	if (!file)
		return;
	if (frames_table_read_file(file, mapping->path, &child->file) != -ENOENT)
		child->start = mapping->start;
	elf_file_close(file);
}

static inline bool child_find_file(struct child *child)
{
	struct proc_map_list maps;
	size_t i;

	if (proc_read_maps("/proc", child->pid, &maps))
		return false;
	for (i = 0; i < maps.count; i++) {
		const struct proc_mapping *mapping = &maps.items[i];

		child_look_at(child, mapping);
		if (!mapping->inode && mapping->readable && mapping->writable &&
		    strcmp(mapping->path, "[stack]") && child->range_count < CHILD_RANGES_MAX)
			child->ranges[child->range_count++] =
				(struct memory_range){ mapping->start, mapping->end };
	}
	proc_map_list_free(&maps);
	return child->file.kind != INTERP_NONE;
}

static inline void child_add_thread(struct child *child, pid_t thread)
{
	struct user_regs_struct registers;
	int status;

	if (child->thread_count == CHILD_THREADS_MAX || ptrace(PTRACE_SEIZE, thread, 0, 0))
		return;
	if (!ptrace(PTRACE_INTERRUPT, thread, 0, 0) && waitpid(thread, &status, __WALL) == thread &&
	    !ptrace(PTRACE_GETREGS, thread, 0, &registers)) {
		child->threads[child->thread_count] = thread;
		child->thread_pointers[child->thread_count++] = registers.fs_base;
	}
	ptrace(PTRACE_DETACH, thread, 0, 0);
}

/* Thread pointers as a debugger gets them. */
static inline void child_find_threads(struct child *child)
{
	struct dirent *entry;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)child->pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			child_add_thread(child, (pid_t)strtol(entry->d_name, NULL, 10));
	if (folder)
		closedir(folder);
}

#endif
