/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See privilege.h. */
#include "system/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/proc_text.h"

/* Headers of older distributions lack the newest. */
#define NUMBER_SYS_PTRACE 19
#define NUMBER_SYS_ADMIN 21
#define NUMBER_DAC_READ_SEARCH 2
#define NUMBER_PERFMON 38
#define NUMBER_BPF 39
#define NUMBER_CHECKPOINT_RESTORE 40
#define NUMBER_MAX 63

#define BIT(number) (1ULL << (number))

static const struct {
	unsigned int number;
	const char *name;
} capabilities[] = {
	{ NUMBER_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH" },
	{ NUMBER_SYS_PTRACE, "CAP_SYS_PTRACE" },
	{ NUMBER_SYS_ADMIN, "CAP_SYS_ADMIN" },
	{ NUMBER_PERFMON, "CAP_PERFMON" },
	{ NUMBER_BPF, "CAP_BPF" },
	{ NUMBER_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE" },
};

/* What each step does, what it needs, and what the system calls are that a seccomp filter may forbid. */
static const struct {
	const char *what;
	uint64_t needs; /* unless CAP_SYS_ADMIN is there */
	const char *calls;
} steps[] = {
	[STEP_LOAD] = { "loading BPF programs", BIT(NUMBER_BPF) | BIT(NUMBER_PERFMON), "bpf" },
	[STEP_ATTACH_MULTI] = { "probing", BIT(NUMBER_BPF) | BIT(NUMBER_PERFMON), "bpf" },
	[STEP_ATTACH_PERF] = { "probing by perf events, as this kernel does it",
			       BIT(NUMBER_SYS_ADMIN), "perf_event_open" },
	[STEP_LISTEN] = { "listening to what processes do", BIT(NUMBER_PERFMON),
			  "perf_event_open" },
	[STEP_LOOK] = { "looking at processes of other users", BIT(NUMBER_SYS_PTRACE),
			"process_vm_readv" },
	[STEP_READ] = { "reading the memory of processes of other users",
			BIT(NUMBER_SYS_PTRACE) | BIT(NUMBER_DAC_READ_SEARCH), "openat" },
};

/* The number behind a key at the start of a line. */
static uint64_t text_number(const struct buffer *text, const char *key, unsigned int base)
{
	const char *at = text->data ? strstr(text->data, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, (int)base) : 0;
}

static char *read_line(const char *root, const char *name, char *line, int size)
{
	char *path = memory_format("%s/%s", root, name);
	FILE *file = fopen(path, "re");

	*line = '\0';
	if (file && !fgets(line, size, file))
		*line = '\0';
	if (file)
		fclose(file);
	free(path);
	return line;
}

/* The first user namespace maps every number to itself. */
static bool is_confined(const char *proc_root)
{
	unsigned long first, outer, count;
	char line[128];

	if (sscanf(read_line(proc_root, "self/uid_map", line, sizeof(line)), "%lu %lu %lu", &first,
		   &outer, &count) != 3)
		return false;
	return first || outer || count != 4294967295UL;
}

/* "NAME (enforce)"; of several profiles that do not all enforce, "(mixed)". Other security modules have no such word. */
static bool is_profiled(const char *proc_root)
{
	char line[256];

	read_line(proc_root, "self/attr/current", line, sizeof(line));
	return strstr(line, " (enforce)") || strstr(line, " (mixed)");
}

void privileges_read(const char *proc_root, const char *sys_root, struct privileges *ret_privileges)
{
	struct privileges privileges = { .paranoid = -1 };
	struct buffer status = { 0 };
	char line[128];

	if (!proc_read_text(proc_root, 0, "status", &status)) {
		privileges.effective = text_number(&status, "\nCapEff:", 16);
		privileges.filtered = text_number(&status, "\nSeccomp:", 10) != 0;
	}
	buffer_free(&status);
	privileges.confined = is_confined(proc_root);
	privileges.profiled = is_profiled(proc_root);
	if (*read_line(proc_root, "sys/kernel/perf_event_paranoid", line, sizeof(line)))
		privileges.paranoid = atoi(line);
	privileges.locked =
		strstr(read_line(sys_root, "kernel/security/lockdown", line, sizeof(line)),
		       "[confidentiality]");
	*ret_privileges = privileges;
}

static uint64_t privileges_missing(const struct privileges *privileges, enum privilege_step step)
{
	if (privileges->effective & BIT(NUMBER_SYS_ADMIN) && step < STEP_LOOK)
		return 0;
	return steps[step].needs & ~privileges->effective;
}

static void explain_missing(uint64_t missing, struct buffer *text)
{
	const char *separator = "";
	size_t i;

	for (i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		if (!(missing & BIT(capabilities[i].number)))
			continue;
		buffer_printf(text, "%s%s", separator, capabilities[i].name);
		separator = " and ";
	}
}

/* Nothing is missing, and yet it is forbidden. */
static void explain_else(const struct privileges *privileges, enum privilege_step step,
			 struct buffer *text)
{
	if (privileges->profiled && step >= STEP_LOOK)
		buffer_append_string(
			text,
			"the capability is there, so it is the AppArmor profile of this process "
			"that lets it look at processes with the same profile only: run it "
			"without (docker and podman: --security-opt apparmor=unconfined)");
	else if (privileges->filtered)
		buffer_printf(
			text,
			"the capabilities are there, so it is the seccomp profile of this "
			"process that forbids %s(): allow it there, or run without the profile "
			"(docker and podman: --security-opt seccomp=unconfined)",
			steps[step].calls);
	else if (step == STEP_LISTEN && privileges->paranoid > 2)
		buffer_printf(
			text,
			"the capability is there, but kernel.perf_event_paranoid is %d, where "
			"Debian's kernels ask for CAP_SYS_ADMIN: set it to 2, or give that "
			"capability",
			privileges->paranoid);
	else if (privileges->locked)
		buffer_append_string(text,
				     "the kernel is locked down (confidentiality): boot it without "
				     "lockdown=confidentiality");
	else
		buffer_append_string(text, "a security module (see the kernel's log) forbids it");
}

void privileges_explain(const struct privileges *privileges, enum privilege_step step,
			struct buffer *text)
{
	uint64_t missing = privileges_missing(privileges, step);

	buffer_printf(text, "%s needs ", steps[step].what);
	if (privileges->confined) {
		explain_missing(steps[step].needs, text);
		buffer_append_string(text, " in the first user namespace, and this process is in "
					   "another one: run it outside, or in a container "
					   "without a user namespace of its own");
		return;
	}
	explain_missing(steps[step].needs, text);
	if (!missing) {
		buffer_append_string(text, "; ");
		explain_else(privileges, step, text);
		return;
	}
	buffer_append_string(text, ", and this process lacks ");
	explain_missing(missing, text);
	if (step == STEP_LISTEN)
		buffer_printf(text, " (kernel.perf_event_paranoid is %d)", privileges->paranoid);
	buffer_append_string(text, ": run it as root, or give it the capability (setcap, "
				   "systemd's AmbientCapabilities, a container's capabilities)");
}

int privileges_refuse(enum privilege_step step, int code, struct error *error)
{
	struct privileges privileges;
	struct buffer text = { 0 };

	if (code == -EMFILE || code == -ENFILE)
		return error_set(error, ERROR_PERMISSION, code,
				 "too many files are open (%s) for %s: raise the limit of this "
				 "process (ulimit -Hn), or trace fewer processes",
				 strerror(-code), steps[step].what);
	privileges_read("/proc", "/sys", &privileges);
	privileges_explain(&privileges, step, &text);
	error_set(error, ERROR_PERMISSION, code, "not permitted (%s): %s", strerror(-code),
		  text.data);
	buffer_free(&text);
	return code;
}

/* 28 random bits above the first number of a range that has no use. */
#define UNUSED_USERS 0x70000000u
#define UNUSED_BITS 0x0fffffffu

unsigned int privileges_unused_user(void)
{
	unsigned int random;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (unsigned int)getpid();
	return UNUSED_USERS | (random & UNUSED_BITS);
}

/*
 * By the plain system calls, which are for the calling thread: those of libc wait for all threads, and one that was left behind
 * in the kernel (base/timed_call.h) would never answer.
 */
static int privileges_set_user(unsigned int user)
{
	if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, user, user, user) ||
	    syscall(SYS_setresuid, user, user, user))
		return -errno;
	return 0;
}

int privileges_leave_root(unsigned int user)
{
	const uint64_t needs = BIT(NUMBER_SYS_PTRACE) | BIT(NUMBER_DAC_READ_SEARCH) |
			       BIT(CAP_SETUID) | BIT(CAP_SETGID);
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];
	uint64_t permitted;
	int code;

	if (geteuid())
		return 0;
	if (syscall(SYS_capget, &header, sets))
		return -errno;
	permitted = (uint64_t)sets[1].permitted << 32 | sets[0].permitted;
	if ((permitted & needs) != needs)
		return -EPERM;
	/* Capabilities stay permitted, but not effective. */
	code = prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ? -errno : 0;
	if (!code)
		code = privileges_set_user(user);
	sets[0].effective = sets[0].permitted;
	sets[1].effective = sets[1].permitted;
	if (syscall(SYS_capset, &header, sets) && !code)
		code = -errno;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return code;
}

int privileges_drop(bool perf)
{
	uint64_t keep = BIT(NUMBER_BPF) | BIT(NUMBER_PERFMON) | BIT(NUMBER_SYS_PTRACE) |
			BIT(NUMBER_DAC_READ_SEARCH) | BIT(NUMBER_CHECKPOINT_RESTORE) |
			(perf ? BIT(NUMBER_SYS_ADMIN) : 0);
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];
	unsigned int number;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capget, &header, sets))
		return -errno;
	/* Needs CAP_SETPCAP; without it there is no way to get more either. */
	for (number = 0; number <= NUMBER_MAX; number++)
		if (!(keep & BIT(number)) && prctl(PR_CAPBSET_DROP, number, 0, 0, 0))
			break;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (number = 0; number < 2; number++) {
		sets[number].permitted &= (uint32_t)(keep >> 32 * number);
		sets[number].effective &= (uint32_t)(keep >> 32 * number);
		sets[number].inheritable = 0;
	}
	return syscall(SYS_capset, &header, sets) ? -errno : 0;
}

void privileges_drop_all(unsigned int user)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (!geteuid())
		privileges_set_user(user);
	syscall(SYS_capset, &header, none);
}

void privileges_hand_on_none(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, sets))
		return;
	sets[0].inheritable = sets[1].inheritable = 0;
	syscall(SYS_capset, &header, sets);
}
