/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dropping privileges: see sandbox.h. */
#include "decode/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/securebits.h>

#include "system/privilege.h"
#include "system/seccomp.h"

/* Where a user ID of the tracer's own is refused, as in a user namespace. */
#define NOBODY 65534

/* AddressSanitizer reserves terabytes of addresses and writes its findings to stderr. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Enough for the largest debug files that are worth a wait. */
#define ADDRESS_SPACE_MAX ((rlim_t)8 << 30)
#define FILES_MAX 512

#define SOCKET 3

/* A user namespace lets a process without CAP_SYS_ADMIN have the others. */
const unsigned long sandbox_spaces[] = { CLONE_NEWPID,
					 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET |
						 CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP,
					 0 };

/* What ends the tracer, or asks it for a report, may be sent to all its processes. Names are wanted afterwards. */
static bool signal_is_for_tracer(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT ||
	       number == SIGUSR1;
}

static void sandbox_reset_signals(void)
{
	sigset_t none;
	int number;

	for (number = 1; number < NSIG; number++)
		signal(number, signal_is_for_tracer(number) ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What is left in the copies of the parent's streams must not reach its files a second time. */
static void sandbox_close_files(int keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if ((fd != 2 || !SANITIZED) && (null < 0 || dup2(null, fd) < 0))
			close(fd);
	if (keep == SOCKET)
		fcntl(keep, F_SETFD, 0);
	else
		dup2(keep, SOCKET);
	closefrom(SOCKET + 1);
}

static void sandbox_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		errno = 0;
	close(fd);
}

void sandbox_prepare(int keep, unsigned int user)
{
	char map[64];

	sandbox_reset_signals();
	setsid();
	/* In a user namespace, so that the exec leaves what it takes to make the rest. Elsewhere there is one already. */
	snprintf(map, sizeof(map), "0 %u 1\n", user);
	sandbox_write("/proc/self/uid_map", map);
	/* When memory runs out, the worker goes first. */
	sandbox_write("/proc/self/oom_score_adj", "1000");
	sandbox_close_files(keep);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/*
 * The root becomes a folder of a process that has ended: nothing can be found in it, nor made. The child shares with its parent
 * what the root directory is, and nothing else.
 */
static void sandbox_leave_root(void)
{
	long child = syscall(SYS_clone, CLONE_FS | SIGCHLD, 0, 0, 0, 0);

	if (!child)
		_exit(chroot("/proc/self/fdinfo") || chdir("/"));
	while (child > 0 && waitpid((pid_t)child, NULL, 0) < 0 && errno == EINTR)
		;
	if (chdir("/"))
		errno = 0;
}

/* The plain system calls: those of libc are for all threads, and there is one. */
static bool sandbox_set_user(unsigned int user)
{
	return !syscall(SYS_setgroups, 0, NULL) && !syscall(SYS_setresgid, user, user, user) &&
	       !syscall(SYS_setresuid, user, user, user);
}

static void sandbox_drop_user(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	unsigned int number;

	for (number = 0; !prctl(PR_CAPBSET_DROP, number, 0, 0, 0); number++)
		;
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
					 SECBIT_NO_SETUID_FIXUP_LOCKED);
	if (!geteuid() && !sandbox_set_user(privileges_unused_user()))
		sandbox_set_user(NOBODY);
	syscall(SYS_capset, &header, none);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void sandbox_enter(const char *name)
{
	umask(077);
	prctl(PR_SET_NAME, name, 0, 0, 0);
	unshare(CLONE_NEWNS);
	unshare(CLONE_NEWNET);
	unshare(CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP);
	sandbox_leave_root();
	sandbox_drop_user();
	/* A change of user clears it, so this comes last. A parent that has ended by now has closed its socket. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* Has the process a capability, in whatever namespace? Then it could lift what is imposed on it. */
static bool sandbox_has_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &header, sets) || sets[0].permitted || sets[1].permitted;
}

/*
 * Memory that is not executable, reading what is open, talking to the tracer, ending. Nothing that opens, starts, connects
 * or changes, and nothing that is about another process.
 */
static int sandbox_filter(void)
{
	const struct seccomp_rule rules[] = {
		{ SYS_read },
		{ SYS_pread64 },
		{ SYS_lseek },
		{ SYS_fstat },
		{ SYS_newfstatat, 4, UINT32_MAX, AT_EMPTY_PATH },
		{ SYS_close },
		{ SYS_fcntl, 2, UINT32_MAX, F_DUPFD_CLOEXEC },
		{ SYS_write },
		{ SYS_mmap, 3, PROT_EXEC, 0 },
		{ SYS_munmap },
		{ SYS_mremap },
		{ SYS_mprotect, 3, PROT_EXEC, 0 },
		{ SYS_madvise },
		{ SYS_brk },
		{ SYS_recvmsg },
		{ SYS_sendmsg },
		{ SYS_futex },
		{ SYS_sched_yield },
		{ SYS_sysinfo },
		{ SYS_getrandom },
		{ SYS_getrusage },
		{ SYS_clock_gettime },
		{ SYS_prlimit64, 1, UINT32_MAX, 0 },
		{ SYS_getpid },
		{ SYS_gettid },
		{ SYS_tgkill, 1, UINT32_MAX, (uint32_t)getpid() },
		{ SYS_sigaltstack },
		{ SYS_rt_sigaction },
		{ SYS_rt_sigprocmask },
		{ SYS_rt_sigreturn },
		{ SYS_exit },
		{ SYS_exit_group },
	};

	return seccomp_install(rules, sizeof(rules) / sizeof(rules[0]), true);
}

static void sandbox_limit(int resource, rlim_t limit)
{
	struct rlimit old;

	if (getrlimit((__rlimit_resource_t)resource, &old))
		return;
	if (old.rlim_max < limit)
		limit = old.rlim_max;
	setrlimit((__rlimit_resource_t)resource, &(struct rlimit){ limit, limit });
}

int sandbox_seal(uint64_t memory)
{
	if (!SANITIZED) {
		sandbox_limit(RLIMIT_AS, ADDRESS_SPACE_MAX);
		sandbox_limit(RLIMIT_DATA, memory);
	}
	sandbox_limit(RLIMIT_CORE, 0);
	sandbox_limit(RLIMIT_FSIZE, 0);
	sandbox_limit(RLIMIT_NOFILE, FILES_MAX);
	sandbox_limit(RLIMIT_NPROC, 0);
	sandbox_limit(RLIMIT_MEMLOCK, 0);
	if (sandbox_has_capabilities())
		return -EPERM;
	return sandbox_filter();
}

void sandbox_allow_seconds(unsigned int seconds)
{
	struct rlimit limit;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) || getrlimit(RLIMIT_CPU, &limit))
		return;
	limit.rlim_cur = (rlim_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + seconds + 1;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CPU, &limit);
}
