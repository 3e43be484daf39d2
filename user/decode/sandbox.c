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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

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
#define DATA_MAX ((rlim_t)4 << 30)

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
		if (fd != keep && (fd != 2 || !SANITIZED) && (null < 0 || dup2(null, fd) < 0))
			close(fd);
	for (fd = 3; fd < keep; fd++)
		close(fd);
	closefrom(keep > 2 ? keep + 1 : 3);
}

/* When memory runs out, the worker goes first. */
static void sandbox_volunteer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

static void sandbox_drop_user(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	/* The plain system calls: libc would try to tell threads that did not survive the fork. */
	if (!geteuid()) {
		syscall(SYS_setgroups, 0, NULL);
		syscall(SYS_setresgid, NOBODY, NOBODY, NOBODY);
		syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	}
	syscall(SYS_capset, &header, none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void sandbox_enter(const char *name, int keep)
{
	pid_t parent = getppid();

	sandbox_reset_signals();
	setsid();
	sandbox_volunteer();
	sandbox_close_files(keep);
	if (chdir("/"))
		errno = 0;
	sandbox_drop_user();
	prctl(PR_SET_NAME, name, 0, 0, 0);
	/* A change of user clears it, so this comes last. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(0);
}

#if defined(__x86_64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef SANDBOX_ARCH
/* Memory, reading what is open, talking to the tracer, ending. Nothing that opens, starts, connects or changes. */
static const uint16_t allowed_calls[] = {
	SYS_read,	   SYS_pread64,	    SYS_lseek,	      SYS_fstat,
	SYS_newfstatat,	   SYS_close,	    SYS_write,	      SYS_mmap,
	SYS_munmap,	   SYS_mremap,	    SYS_mprotect,     SYS_madvise,
	SYS_brk,	   SYS_recvmsg,	    SYS_sendmsg,      SYS_futex,
	SYS_sched_yield,   SYS_sysinfo,	    SYS_getrandom,    SYS_getrusage,
	SYS_clock_gettime, SYS_prlimit64,   SYS_getpid,	      SYS_gettid,
	SYS_tgkill,	   SYS_sigaltstack, SYS_rt_sigaction, SYS_rt_sigprocmask,
	SYS_rt_sigreturn,  SYS_exit,	    SYS_exit_group,
};

#define CALL_COUNT (sizeof(allowed_calls) / sizeof(allowed_calls[0]))

static void sandbox_filter(void)
{
	struct sock_filter code[CALL_COUNT + 6] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .filter = code };
	size_t count = 4, i;

	for (i = 0; i < CALL_COUNT; i++)
		code[count++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, allowed_calls[i], (uint8_t)(CALL_COUNT - i), 0);
	code[count++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & 0xffff));
	code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)count;
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#else
static void sandbox_filter(void)
{
}
#endif

static void sandbox_limit(int resource, rlim_t limit)
{
	struct rlimit old;

	if (getrlimit((__rlimit_resource_t)resource, &old))
		return;
	if (old.rlim_max < limit)
		limit = old.rlim_max;
	setrlimit((__rlimit_resource_t)resource, &(struct rlimit){ limit, limit });
}

void sandbox_seal(void)
{
	if (!SANITIZED) {
		sandbox_limit(RLIMIT_AS, ADDRESS_SPACE_MAX);
		sandbox_limit(RLIMIT_DATA, DATA_MAX);
	}
	sandbox_limit(RLIMIT_CORE, 0);
	sandbox_limit(RLIMIT_FSIZE, 0);
	sandbox_filter();
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
