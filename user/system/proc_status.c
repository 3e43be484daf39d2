/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/status, stat and exe: see proc.h. */
#include "system/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

/* Fields of /proc/PID/stat by their numbers in proc(5); the first is the one behind the command name. */
#define STAT_AFTER_COMM 3
#define STAT_START_TIME 22
#define STAT_ARGUMENTS 48 /* its start, its end, and those of the environment */
#define STAT_ENVIRONMENT 50

#define FILES_COUNTED_MAX (1u << 20)

static const char *status_skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/*
 * The number at `index` of a line, or the last one if `index` is negative. Left alone if it is missing or above
 * `max`.
 */
static void status_number(const char *at, const char *end, int index, uint64_t max,
			  uint64_t *ret_number)
{
	uint64_t number, wanted = UINT64_MAX;

	at = status_skip_blanks(at, end);
	while (proc_take_number(&at, end, 10, &number)) {
		at = status_skip_blanks(at, end);
		if (index <= 0)
			wanted = number;
		if (index == 0)
			break;
		index -= index > 0;
	}
	if (wanted <= max)
		*ret_number = wanted;
}

/* The kernel writes a newline of the name as \n and a backslash as \\. */
static void status_comm(const char *at, const char *end, struct proc_status *status)
{
	size_t length = 0;

	at = status_skip_blanks(at, at < end ? at + 1 : end);
	for (; at < end && length < sizeof(status->comm) - 1; at++) {
		if (*at == '\\' && end - at > 1 && (at[1] == 'n' || at[1] == '\\')) {
			at++;
			status->comm[length++] = *at == 'n' ? '\n' : '\\';
		} else {
			status->comm[length++] = *at;
		}
	}
	status->comm[length] = '\0';
}

static void status_state(const char *at, const char *end, struct proc_status *status)
{
	at = status_skip_blanks(at, end);
	if (at < end)
		status->state = *at;
}

/* The fields that are one number: which one of the line, and how large it may be. */
enum status_field {
	FIELD_TGID,
	FIELD_NSPID,
	FIELD_PARENT,
	FIELD_UID,
	FIELD_SECCOMP,
	FIELD_TRACER,
	FIELD_RSS,
	FIELD_SWAP,
	FIELD_SIZE,
	FIELD_HUGETLB,
	FIELD_TABLES,
	FIELD_THREADS,
	FIELD_COUNT,
};

static const struct {
	const char *key;
	int index;
	uint64_t max;
} status_fields[FIELD_COUNT] = {
	[FIELD_TGID] = { "Tgid", 0, INT_MAX },
	[FIELD_NSPID] = { "NSpid", -1, INT_MAX },
	[FIELD_PARENT] = { "PPid", 0, INT_MAX },
	[FIELD_UID] = { "Uid", 1, UINT32_MAX },
	[FIELD_SECCOMP] = { "Seccomp", 0, 2 },
	[FIELD_TRACER] = { "TracerPid", 0, INT_MAX },
	[FIELD_RSS] = { "VmRSS", 0, UINT64_MAX / 1024 },
	[FIELD_SWAP] = { "VmSwap", 0, UINT64_MAX / 1024 },
	[FIELD_SIZE] = { "VmSize", 0, UINT64_MAX / 1024 },
	[FIELD_HUGETLB] = { "HugetlbPages", 0, UINT64_MAX / 1024 },
	[FIELD_TABLES] = { "VmPTE", 0, UINT64_MAX / 1024 },
	[FIELD_THREADS] = { "Threads", 0, INT_MAX },
};

static bool status_key_is(const char *line, const char *colon, const char *key)
{
	return (size_t)(colon - line) == strlen(key) && memcmp(line, key, strlen(key)) == 0;
}

static void status_line(const char *line, const char *end, struct proc_status *status,
			uint64_t numbers[FIELD_COUNT])
{
	const char *colon = memchr(line, ':', (size_t)(end - line));
	int i;

	if (!colon)
		return;
	if (status_key_is(line, colon, "Name"))
		status_comm(colon + 1, end, status);
	if (status_key_is(line, colon, "State"))
		status_state(colon + 1, end, status);
	for (i = 0; i < FIELD_COUNT; i++)
		if (status_key_is(line, colon, status_fields[i].key))
			status_number(colon + 1, end, status_fields[i].index, status_fields[i].max,
				      &numbers[i]);
}

void proc_parse_status(const char *text, size_t length, struct proc_status *ret_status)
{
	struct proc_status status = { 0 };
	uint64_t numbers[FIELD_COUNT] = { 0 };
	const char *end = text + length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		status_line(text, newline ? newline : end, &status, numbers);
		text = newline ? newline + 1 : end;
	}
	status.pid = (pid_t)numbers[FIELD_TGID];
	status.namespace_pid =
		(pid_t)(numbers[FIELD_NSPID] ? numbers[FIELD_NSPID] : numbers[FIELD_TGID]);
	status.parent_pid = (pid_t)numbers[FIELD_PARENT];
	status.uid = (uid_t)numbers[FIELD_UID];
	status.seccomp = (int)numbers[FIELD_SECCOMP];
	status.tracer_pid = (pid_t)numbers[FIELD_TRACER];
	status.rss_bytes = numbers[FIELD_RSS] * 1024;
	status.swap_bytes = numbers[FIELD_SWAP] * 1024;
	status.mapped_bytes = numbers[FIELD_SIZE] * 1024;
	status.hugetlb_bytes = numbers[FIELD_HUGETLB] * 1024;
	status.table_bytes = numbers[FIELD_TABLES] * 1024;
	status.threads = numbers[FIELD_THREADS];
	*ret_status = status;
}

int proc_read_status(const char *proc_root, pid_t pid, struct proc_status *ret_status)
{
	struct buffer text = { 0 };
	int result = proc_read_text(proc_root, pid, "status", &text);

	if (!result)
		proc_parse_status(text.data ? text.data : "", text.length, ret_status);
	buffer_free(&text);
	return result;
}

int proc_read_rss(const char *proc_root, pid_t pid, uint64_t *ret_bytes)
{
	struct buffer text = { 0 };
	uint64_t pages = UINT64_MAX;
	int result = proc_read_text(proc_root, pid, "statm", &text);

	if (!result && text.length)
		status_number(text.data, text.data + text.length, 1, UINT32_MAX, &pages);
	buffer_free(&text);
	if (!result && pages == UINT64_MAX)
		result = -EPROTO;
	if (!result)
		*ret_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return result;
}

int proc_check(const char *proc_root, pid_t self, struct error *error)
{
	char *link = memory_format("%s/self", proc_root), target[32];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	free(link);
	if (length < 0)
		return error_set(error, ERROR_PERMISSION, -ENOENT,
				 "%s is not there: mount it (mount -t proc proc /proc)", proc_root);
	target[length] = '\0';
	if (strtol(target, NULL, 10) == self)
		return 0;
	return error_set(
		error, ERROR_PERMISSION, -ENOTSUP,
		"%s is that of another pid namespace, in which this process has the pid %s "
		"and not %d: mount the one of this namespace (unshare --mount-proc; "
		"nsenter with -m; mount -t proc proc /proc)",
		proc_root, target, self);
}

int proc_list_pids(const char *proc_root, struct pid_list *list)
{
	DIR *directory = opendir(proc_root);
	struct dirent *entry;
	uint64_t pid;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory))) {
		const char *at = entry->d_name, *end = at + strlen(at);

		if (proc_take_number(&at, end, 10, &pid) && at == end && pid && pid <= INT_MAX)
			pid_list_add(list, (pid_t)pid);
	}
	closedir(directory);
	return 0;
}

/* Before Linux 6.2 the folder's size is 0. */
static int files_count_entries(const char *path, uint64_t *ret_count)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	uint64_t count = 0;

	if (!directory)
		return -errno;
	while (count < FILES_COUNTED_MAX && (entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	closedir(directory);
	*ret_count = count;
	return 0;
}

int proc_count_files(const char *proc_root, pid_t pid, uint64_t *ret_count)
{
	char *path = memory_format("%s/%d/fd", proc_root, (int)pid);
	struct stat status;
	int code = 0;

	if (stat(path, &status) || status.st_size <= 0)
		code = files_count_entries(path, ret_count);
	else
		*ret_count = (uint64_t)status.st_size < FILES_COUNTED_MAX ? (uint64_t)status.st_size
									  : FILES_COUNTED_MAX;
	free(path);
	return code == -ENOENT ? -ESRCH : code;
}

/* Numbers in the text of /proc/PID/stat. False if they are not there. */
static bool stat_take_fields(const struct buffer *text, int first, uint64_t *values, size_t count)
{
	/* The command name is in parentheses and may hold any byte: the last one closes it. */
	const char *at = text->length ? memrchr(text->data, ')', text->length) : NULL, *end;
	size_t i;
	int field;

	if (!at)
		return false;
	end = text->data + text->length;
	at = status_skip_blanks(at + 1, end);
	for (field = STAT_AFTER_COMM; at && field < first; field++) {
		at = memchr(at, ' ', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	for (i = 0; at && i < count; i++) {
		if (!proc_take_number(&at, end, 10, &values[i]))
			return false;
		at = status_skip_blanks(at, end);
	}
	return at;
}

/*
 * `count` fields of /proc/PID/stat, of one moment: the first by its number in proc(5). Returns 0, or a negative errno: then
 * some of `values` may be set.
 */
static int stat_read_fields(const char *proc_root, pid_t pid, int first, uint64_t *values,
			    size_t count)
{
	struct buffer text = { 0 };
	int result = proc_read_text(proc_root, pid, "stat", &text);

	if (!result && !stat_take_fields(&text, first, values, count))
		result = -EPROTO;
	buffer_free(&text);
	return result;
}

int proc_read_start_time(const char *proc_root, pid_t pid, uint64_t *ret_ticks)
{
	return stat_read_fields(proc_root, pid, STAT_START_TIME, ret_ticks, 1);
}

int proc_read_environment_range(const char *proc_root, pid_t pid, uint64_t *ret_start,
				uint64_t *ret_end)
{
	uint64_t range[2];
	int code = stat_read_fields(proc_root, pid, STAT_ENVIRONMENT, range, 2);

	if (code)
		return code;
	if (!range[0] || range[1] < range[0])
		return -ENODATA;
	*ret_start = range[0];
	*ret_end = range[1];
	return 0;
}

int proc_read_arguments_range(const char *proc_root, pid_t pid, struct proc_arguments *ret_range)
{
	uint64_t range[4];
	int code = stat_read_fields(proc_root, pid, STAT_ARGUMENTS, range, 4);
	bool adjoins;

	if (code)
		return code;
	if (!range[0] || range[1] <= range[0])
		return -ENODATA;
	/* A process may have put its environment anywhere. */
	adjoins = range[2] == range[1] && range[3] >= range[2];
	*ret_range = (struct proc_arguments){ .start = range[0],
					      .end = range[1],
					      .environment_end = range[adjoins ? 3 : 1] };
	return 0;
}

/* Is `path`, as the process or as the tracer sees it, the very file that `link` leads to? */
static bool exe_has_name(const char *proc_root, pid_t pid, const char *link, const char *path)
{
	struct statx exe, named;
	pid_t views[2] = { pid, 0 };
	bool same = false;
	size_t i;

	/* From the kernel's cache: no request to a file server. */
	if (statx(AT_FDCWD, link, AT_STATX_DONT_SYNC, STATX_INO, &exe))
		return false;
	for (i = 0; i < 2 && !same; i++) {
		int fd = proc_open_in_root(proc_root, views[i], path, 0);

		if (fd < 0)
			continue;
		same = !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &named) &&
		       named.stx_dev_major == exe.stx_dev_major &&
		       named.stx_dev_minor == exe.stx_dev_minor && named.stx_ino == exe.stx_ino;
		close(fd);
	}
	return same;
}

bool proc_has_memory(const char *proc_root, pid_t pid)
{
	char *link = memory_format("%s/%d/exe", proc_root, (int)pid), byte;
	bool has = readlink(link, &byte, 1) >= 0 || (errno != ENOENT && errno != ESRCH);

	free(link);
	return has;
}

pid_t proc_memory_thread(const char *proc_root, pid_t pid)
{
	char *path = proc_has_memory(proc_root, pid)
			     ? NULL
			     : memory_format("%s/%d/task", proc_root, (int)pid);
	DIR *folder = path ? opendir(path) : NULL;
	pid_t found = pid, thread;
	struct dirent *entry;

	while (folder && found == pid && (entry = readdir(folder))) {
		thread = (pid_t)strtol(entry->d_name, NULL, 10);
		if (thread > 0 && proc_has_memory(proc_root, thread))
			found = thread;
	}
	if (folder)
		closedir(folder);
	free(path);
	return found;
}

char *proc_read_exe(const char *proc_root, pid_t pid)
{
	char *link = memory_format("%s/%d/exe", proc_root, (int)pid);
	char *path = proc_read_link(link);
	char *full = memory_copy_string(path);

	/* A file may really be called "x (deleted)". */
	if (path && proc_strip_deleted(path) && exe_has_name(proc_root, pid, link, full)) {
		free(path);
		path = full;
		full = NULL;
	}
	free(full);
	free(link);
	return path;
}

int proc_refuse_empty(const struct proc_status *status, struct error *error)
{
	if (status->state != 'Z')
		return error_set(error, ERROR_TARGET, -ESRCH,
				 "process %d (%s) has no memory of its own, or has ended",
				 status->pid, status->comm);
	if (proc_memory_thread("/proc", status->pid) != status->pid)
		return error_set(error, ERROR_TARGET, -ESRCH,
				 "process %d (%s) has only its other threads left; the kernel "
				 "shows memory by the first one, which has ended",
				 status->pid, status->comm);
	return error_set(error, ERROR_TARGET, -ESRCH,
			 "process %d has ended, and is a zombie: its parent, process %d, has not "
			 "waited for it",
			 status->pid, status->parent_pid);
}
