/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See process.h. */
#include "discover/process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "discover/module_finder.h"
#include "discover/translator.h"
#include "system/privilege.h"
#include "system/proc.h"

/* PSS is read of processes with no more memory, and no more page tables. */
#define PSS_RSS_MAX (256u << 20)
#define PSS_TABLES_MAX (2u << 20)
/* And of none that has made it late so often: each time a thread was left behind. */
#define PSS_LATE_MAX 3

#define DELETED " (deleted)"

static int process_refuse(pid_t pid, int code, struct error *error)
{
	if (code == -ESRCH || code == -ENOENT)
		return error_set(error, ERROR_TARGET, code, "no process has the pid %d", pid);
	return privileges_refuse(STEP_LOOK, code, error);
}

/* A pid may also be that of a thread, which pidfd_open refuses. */
static int process_open_pidfd(pid_t pid, struct error *error)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		return fd;
	if (errno == EINVAL || errno == ENOENT)
		return error_set(error, ERROR_TARGET, -EINVAL,
				 "%d is a thread, not a process: give the pid of its process", pid);
	if (errno == EPERM || errno == ENOSYS)
		return error_set(error, ERROR_PERMISSION, -errno,
				 "the seccomp profile of this process forbids pidfd_open() (%s): "
				 "allow it there, or run without the profile (docker and podman: "
				 "--security-opt seccomp=unconfined)",
				 strerror(errno));
	return process_refuse(pid, -errno, error);
}

static void process_read_place(struct target *target)
{
	struct proc_place place;

	proc_read_place("/proc", target->pid, &place);
	free(target->directory);
	free(target->root);
	target->directory = place.directory;
	target->root = place.root;
	target->mount_namespace = place.mount_namespace;
}

static int process_identify(struct process *process, struct error *error)
{
	struct target *target = &process->target;
	struct proc_status status;
	int code = proc_read_status("/proc", target->pid, &status);

	if (!code)
		code = proc_read_start_time("/proc", target->pid, &process->start_ticks);
	if (code)
		return process_refuse(target->pid, code, error);
	if (status.state == 'Z' && process_alive(process))
		return error_set(error, ERROR_NOTHING, -ENOTSUP,
				 "process %d has only its other threads left; the kernel ties "
				 "probes to the first one, which has ended",
				 target->pid);
	if (status.state == 'Z')
		return proc_refuse_empty(&status, error);
	if (status.state == 'X')
		return error_set(error, ERROR_TARGET, -ESRCH, "process %d has ended already",
				 target->pid);
	memcpy(target->comm, status.comm, sizeof(target->comm));
	target->parent = status.parent_pid;
	target->exe = proc_read_exe("/proc", target->pid);
	process->translator = translator_find(target->exe);
	process_read_place(target);
	if (!target->exe && !status.rss_bytes)
		return error_set(error, ERROR_TARGET, -EINVAL,
				 "%d is a kernel thread: it has no allocator to trace",
				 target->pid);
	return 0;
}

void process_count_files(struct process *process)
{
	struct target *target = &process->target;
	uint64_t count;

	/* What has ended, or is about to, had as many as were counted last. */
	if (proc_count_files("/proc", target->pid, &count) || !process_alive(process))
		return;
	target->files = count;
	if (!target->files_known)
		target->files_first = count;
	target->files_known = true;
}

/* Is a look at all of its pages short? By what it has, and by what it may have had: 1 GB at the most. */
static bool process_is_small(const struct proc_status *status)
{
	return status->rss_bytes <= PSS_RSS_MAX && status->table_bytes <= PSS_TABLES_MAX;
}

void process_read_memory(struct process *process, bool with_pss)
{
	struct target *target = &process->target;
	struct target_usage usage = { 0 };
	struct proc_status status;

	if (!target->exited && !proc_read_status("/proc", target->pid, &status)) {
		usage.rss_bytes = status.rss_bytes;
		usage.swap_bytes = status.swap_bytes;
		usage.threads = status.threads;
		/* One that ends gives up its memory before it counts as ended. */
		usage.known = status.rss_bytes && status.state != 'Z';
	}
	if (usage.known && with_pss && process_is_small(&status) &&
	    process->pss_patience.late < PSS_LATE_MAX)
		usage.pss_known = !proc_read_pss_within(target->pid, &process->pss_patience,
							&usage.pss_bytes);
	if (!process_alive(process))
		usage.known = usage.pss_known = false;
	target->usage = usage;
}

int process_open(pid_t pid, struct process **ret_process, struct error *error)
{
	struct process *process;
	int code;

	if (pid == getpid())
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "%d is the tracer itself, which cannot trace itself", pid);
	process = memory_alloc(1, sizeof(*process));
	process->target.pid = pid;
	process->opened_ns = process->follow_ns = clock_now_ns();
	process->space = address_space_new();
	/* The pidfd comes first: if it is still alive at the end, all that was read in between is of this process. */
	code = process->target.pidfd = process_open_pidfd(pid, error);
	if (code >= 0)
		code = process_identify(process, error);
	if (!code && !process_alive(process))
		code = process_refuse(pid, -ESRCH, error);
	if (code < 0) {
		process_free(process);
		return code;
	}
	process_count_files(process);
	*ret_process = process;
	return 0;
}

void process_free(struct process *process)
{
	if (!process)
		return;
	if (process->target.pidfd >= 0)
		close(process->target.pidfd);
	target_clear(&process->target);
	address_space_free(process->space);
	free(process);
}

bool process_alive(const struct process *process)
{
	struct pollfd ended = { .fd = process->target.pidfd, .events = POLLIN };

	return poll(&ended, 1, 0) == 0;
}

/* The kernel's own page of code is a module without a file; other memory without a file is anonymous. */
static bool mapping_is_anonymous(const struct proc_mapping *mapping)
{
	return !mapping->inode && strcmp(mapping->path, "[vdso]") != 0;
}

static uint32_t process_add_mapping(struct process *process, struct module_list *modules,
				    const struct proc_mapping *mapping, uint64_t time_ns)
{
	uint32_t module;

	if (mapping_is_anonymous(mapping)) {
		address_space_map_anonymous(process->space, mapping->start, mapping->end, time_ns);
		return MODULE_NONE;
	}
	module = module_find_mapping(modules, process->target.pid, mapping);
	address_space_map(process->space, mapping->start, mapping->end, mapping->file_offset,
			  module, time_ns);
	return module;
}

int process_scan(struct process *process, struct module_list *modules, uint64_t time_ns)
{
	struct proc_map_list list;
	int code = proc_read_maps_within(process->target.pid, true, &process->maps_patience, &list);
	size_t i;

	if (code)
		return code;
	if (!process_alive(process) || !proc_has_memory("/proc", process->target.pid)) {
		proc_map_list_free(&list);
		process->needs_scan = false;
		return -ESRCH;
	}
	address_space_scan_begin(process->space, time_ns);
	for (i = 0; i < list.count; i++)
		process_add_mapping(process, modules, &list.items[i], time_ns);
	process->is_cut |= list.cut;
	address_space_scan_end(process->space);
	proc_map_list_free(&list);
	process->needs_scan = false;
	return 0;
}

/* It may still be mapped: the loader has cut the mapping, or a part of it has other rights by now. */
static bool process_misses_module(const struct module_list *modules, uint32_t index)
{
	const struct module *module = module_list_get(modules, index);

	return module && module->unmapped && !module->shared;
}

uint32_t process_see_mapping(struct process *process, struct module_list *modules,
			     const struct sideband_event *event)
{
	struct proc_mapping mapping = {
		.start = event->start,
		.end = event->start + event->length,
		.file_offset = event->file_offset,
		.device = event->device,
		.inode = event->inode,
		.executable = true,
		.shared = event->shared,
		.path = memory_copy_string(event->path),
	};
	size_t length = strlen(mapping.path), suffix = strlen(DELETED);
	uint32_t module;

	if (length > suffix && !strcmp(mapping.path + length - suffix, DELETED)) {
		mapping.path[length - suffix] = '\0';
		mapping.deleted = true;
	}
	module = process_add_mapping(process, modules, &mapping, event->time_ns);
	free(mapping.path);
	if (address_space_needs_scan(process->space) || process_misses_module(modules, module))
		process->needs_scan = true;
	return module;
}

int process_check_translator(const struct process *process, struct error *error)
{
	if (!process->translator)
		return 0;
	return error_set(error, ERROR_NOTHING, -ENOTSUP,
			 "%s runs the program of process %d, and takes a probe in its code for an "
			 "instruction of the program, which would end it by SIGTRAP: trace the "
			 "program without %s",
			 process->translator, process->target.pid, process->translator);
}

static void process_set_program(struct process *process, const char *comm, uint64_t time_ns)
{
	struct target *target = &process->target;
	char *exe = proc_read_exe("/proc", target->pid);

	target->exec_ns = time_ns;
	memset(target->comm, 0, sizeof(target->comm));
	memcpy(target->comm, comm, strnlen(comm, sizeof(target->comm) - 1));
	free(target->exe);
	target->exe = exe;
	process->translator = translator_find(exe);
	process_read_place(target);
}

void process_see_exec(struct process *process, const struct sideband_event *event)
{
	address_space_reset(process->space, event->time_ns);
	process_set_program(process, event->comm, event->time_ns);
}

void process_see_program(struct process *process, uint64_t time_ns)
{
	struct proc_status status;

	if (proc_read_status("/proc", process->target.pid, &status))
		process->target.exec_ns = time_ns;
	else
		process_set_program(process, status.comm, time_ns);
}
