/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter of the tracer, call by call. Each refused call is made with arguments that do nothing, by a process with all the
 * capabilities of the test: without the filter, it fails for another reason than the filter's, or not at all.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <linux/perf_event.h>

#include "command/confine.h"
#include "system/path_walk.h"
#include "system/privilege.h"
#include "system/remote_file.h"

/* No descriptor, no pid, no address. */
#define NONE (-1L)
#define X32_GETPID (0x40000000L | 39)

/* Headers of older distributions lack it. */
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

struct call {
	const char *name;
	long number;
	long arguments[6];
};

#define CALL(name, ...)             \
	{                           \
#name, SYS_##name,  \
		{                   \
			__VA_ARGS__ \
		}                   \
	}

static const struct call refused[] = {
	CALL(execve, NONE),
	CALL(execveat, NONE, NONE),
	CALL(ptrace, NONE, NONE),
	CALL(process_vm_writev, NONE, 0, 0, 0, 0, NONE),
	CALL(pidfd_getfd, NONE),
	CALL(process_madvise, NONE, 0, 0, NONE, NONE),
	CALL(openat, AT_FDCWD, NONE, O_WRONLY),
	CALL(openat, AT_FDCWD, NONE, O_RDWR),
	CALL(openat, AT_FDCWD, NONE, O_RDONLY | O_CREAT),
	CALL(openat, AT_FDCWD, NONE, O_RDONLY | O_TRUNC),
	CALL(openat, AT_FDCWD, NONE, O_RDWR | O_TMPFILE),
	CALL(openat2, AT_FDCWD, NONE, NONE, sizeof(struct open_how)),
#ifdef SYS_open
	CALL(open, NONE, O_WRONLY),
	CALL(open, NONE, O_RDWR),
	CALL(open, NONE, O_RDONLY | O_CREAT),
	CALL(open, NONE, O_RDONLY | O_TRUNC),
	CALL(creat, NONE),
	CALL(unlink, NONE),
	CALL(rename, NONE, NONE),
	CALL(link, NONE, NONE),
	CALL(symlink, NONE, NONE),
	CALL(mkdir, NONE),
	CALL(rmdir, NONE),
	CALL(mknod, NONE),
	CALL(chmod, NONE),
	CALL(chown, NONE),
	CALL(lchown, NONE),
#endif
#ifdef SYS_renameat
	CALL(renameat, NONE, NONE, NONE, NONE),
#endif
	CALL(open_by_handle_at, NONE, NONE),
	CALL(unlinkat, NONE, NONE),
	CALL(renameat2, NONE, NONE, NONE, NONE),
	CALL(linkat, NONE, NONE, NONE, NONE),
	CALL(symlinkat, NONE, NONE, NONE),
	CALL(mkdirat, NONE, NONE),
	CALL(mknodat, NONE, NONE),
	CALL(fchmod, NONE),
	CALL(fchmodat, NONE, NONE),
#ifdef SYS_fchmodat2
	CALL(fchmodat2, NONE, NONE, 0, NONE),
#endif
	CALL(fchown, NONE),
	CALL(fchownat, NONE, NONE),
	CALL(truncate, NONE),
	CALL(setxattr, NONE, NONE),
	CALL(lsetxattr, NONE, NONE),
	CALL(fsetxattr, NONE, NONE),
	CALL(removexattr, NONE, NONE),
	CALL(lremovexattr, NONE, NONE),
	CALL(fremovexattr, NONE, NONE),
	CALL(utimensat, NONE, NONE, NONE, NONE),
	CALL(mount, NONE, NONE, NONE, 0, NONE),
	CALL(umount2, NONE, NONE),
	CALL(pivot_root, NONE, NONE),
	CALL(move_mount, NONE, NONE, NONE, NONE, NONE),
	CALL(open_tree, NONE, NONE, NONE),
	CALL(fsopen, NONE, NONE),
	CALL(fsmount, NONE, NONE, NONE),
	CALL(fsconfig, NONE, 0, 0, 0, 0),
	CALL(fspick, NONE, NONE, NONE),
#ifdef SYS_mount_setattr
	CALL(mount_setattr, NONE, NONE, NONE, NONE, 0),
#endif
	CALL(chroot, NONE),
	CALL(setns, NONE),
	CALL(unshare, NONE),
	CALL(setuid, NONE),
	CALL(setresuid, NONE, NONE, NONE),
	CALL(init_module, NONE, 1, NONE),
	CALL(finit_module, NONE, NONE, NONE),
	CALL(delete_module, NONE),
	CALL(kexec_load, 0, 1 << 20, NONE, NONE),
#ifdef SYS_kexec_file_load
	CALL(kexec_file_load, NONE, NONE, 0, NONE, NONE),
#endif
	CALL(reboot, 0, 0, 0, NONE),
	CALL(swapon, NONE, NONE),
	CALL(swapoff, NONE),
	CALL(acct, NONE),
	CALL(add_key, NONE, NONE, NONE, NONE),
	CALL(request_key, NONE, NONE, NONE),
	CALL(keyctl, NONE),
	CALL(userfaultfd, NONE),
	CALL(io_uring_setup, 0, NONE),
	CALL(socket, NONE),
};

#define CALL_COUNT (sizeof(refused) / sizeof(refused[0]))

/* What a child finds out. */
struct answers {
	int filter; /* of confine_calls */
	int codes[CALL_COUNT]; /* 0 or errno */
	int x32;
};

static int try(const struct call *call)
{
	const long *arguments = call->arguments;

	return syscall(call->number, arguments[0], arguments[1], arguments[2], arguments[3],
		       arguments[4], arguments[5]) < 0
		       ? errno
		       : 0;
}

static int wait_for(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static struct answers *try_all(bool filtered, bool servers)
{
	struct answers *answers = mmap(NULL, sizeof(*answers), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	size_t i;

	assert_true(answers != MAP_FAILED);
	child = fork();
	if (!child) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		answers->filter = filtered ? confine_calls(servers) : 0;
		for (i = 0; i < CALL_COUNT; i++)
			answers->codes[i] = try(&refused[i]);
		answers->x32 = syscall(X32_GETPID) < 0 ? errno : 0;
		_exit(0);
	}
	assert_int_equal(wait_for(child), 0);
	return answers;
}

static void free_answers(struct answers *answers)
{
	munmap(answers, sizeof(*answers));
}

/* Where the test has no capabilities, or the system has a filter of its own, some are refused in any case. */
static void test_refused(void **state)
{
	struct answers *without = try_all(false, false), *with = try_all(true, false);
	size_t i, shown = 0;

	(void)state;
	assert_int_equal(with->filter, 0);
	for (i = 0; i < CALL_COUNT; i++) {
		if (with->codes[i] != EPERM)
			fail_msg("%s is not refused: %s", refused[i].name,
				 strerror(with->codes[i]));
		shown += without->codes[i] != EPERM;
		if (without->codes[i] == EPERM)
			print_message("%s is refused without the filter, too\n", refused[i].name);
	}
	assert_int_equal(with->x32, EPERM);
	/* What needs no capability makes more than half. */
	assert_true(shown > CALL_COUNT / 2);
	free_answers(without);
	free_answers(with);
}

/* Sockets are for debug files from servers, and nothing else is. */
static void test_servers(void **state)
{
	struct answers *answers = try_all(true, true);
	size_t i;

	(void)state;
	assert_int_equal(answers->filter, 0);
	for (i = 0; i < CALL_COUNT; i++)
		assert_int_equal(answers->codes[i] == EPERM, refused[i].number != SYS_socket);
	free_answers(answers);
}

static int work_run(struct remote_work *work)
{
	return openat(work->fd, "version", O_RDONLY | O_CLOEXEC);
}

/* Another process opens a file and passes it on. */
static bool opens_elsewhere(void)
{
	struct remote_work work = { .run = work_run, .patience_ms = 60000, .gives_fd = true };
	char byte;
	int fd;

	work.fd = open("/proc", O_PATH | O_DIRECTORY);
	fd = remote_file_work(&work);
	return fd >= 0 && read(fd, &byte, 1) == 1 && !close(fd) && !close(work.fd);
}

static bool walks(void)
{
	char *path = path_walk_real("/proc/../");
	bool is = path && !strcmp(path, "/");

	free(path);
	return is;
}

/* Flags that are somewhere else, even a byte away, are refused; where the good ones are, nothing else can be. */
static bool walks_otherwise(void)
{
	struct open_how how = { .flags = O_RDWR | O_CLOEXEC };
	uint64_t mask, flags = path_walk_fix_flags(&mask), end = flags | ~mask, at;
	long page = sysconf(_SC_PAGESIZE);

	if (syscall(SYS_openat2, AT_FDCWD, "/dev/null", &how, sizeof(how)) >= 0 || errno != EPERM)
		return true;
	for (at = flags - 64; at <= end + 64; at++) {
		int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/dev/null", at, sizeof(how));

		if (fd < 0 && errno == EPERM)
			continue;
		if ((at & mask) != flags || (fd >= 0 && !(fcntl(fd, F_GETFL) & O_PATH)))
			return true;
		close(fd);
	}
	/* Only Linux 6.10 can seal. */
	if (syscall(SYS_mseal, 0, 0, 0) < 0)
		return false;
	return mprotect((void *)(flags & -(uint64_t)page), (size_t)page, PROT_READ | PROT_WRITE) >=
	       0;
}

static bool reads_memory(void)
{
	int value = 42, copy = 0;
	struct iovec to = { &copy, sizeof(copy) }, from = { &value, sizeof(value) };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(copy) && copy == 42;
}

static bool writes_unnamed_file(void)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);

	return fd >= 0 && write(fd, "x", 1) == 1 && !ftruncate(fd, 0) && !close(fd);
}

static void *thread_run(void *context)
{
	return context;
}

static bool starts_thread(void)
{
	pthread_t thread;
	void *result = NULL;
	char token;

	return !pthread_create(&thread, NULL, thread_run, &token) &&
	       !pthread_join(thread, &result) && result == &token;
}

static bool ends_child(void)
{
	pid_t child = fork();
	int pidfd, status;

	if (!child)
		for (;;)
			pause();
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	return pidfd >= 0 && !kill(child, SIGKILL) && waitpid(child, &status, 0) == child &&
	       WIFSIGNALED(status) && !close(pidfd);
}

static bool makes_descriptors(void)
{
	int ends[2], timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	return timer >= 0 && !close(timer) && !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) &&
	       !close(ends[0]) && !close(ends[1]);
}

/* Probes: the kernel looks at the arguments, unless capabilities are missing. */
static bool asks_kernel(bool privileged)
{
	struct perf_event_attr event = { .size = 1 };

	if (!privileged)
		return true;
	return syscall(SYS_bpf, -1, NULL, 0) < 0 && errno != EPERM &&
	       syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) < 0 && errno == E2BIG;
}

static bool has_capabilities(void)
{
	const uint64_t needed = 1ULL << 38 | 1ULL << 39;
	struct privileges privileges;

	privileges_read("/proc", "/sys", &privileges);
	return (privileges.effective & needed) == needed && !privileges.filtered;
}

/* All that the tracer gives up, and what it does after that. */
static void test_needed(void **state)
{
	const struct log log = { .level = LOG_ERROR };
	const bool privileged = has_capabilities();
	int status;
	pid_t child = fork();

	(void)state;
	if (!child) {
		confine_tracer(BACKEND_KERNEL_MULTI, false, privileges_unused_user(), &log);
		_exit(!opens_elsewhere()				   ? 1
		      : !walks()					   ? 2
		      : !reads_memory()					   ? 3
		      : !writes_unnamed_file()				   ? 4
		      : !starts_thread()				   ? 5
		      : !ends_child()					   ? 6
		      : !makes_descriptors()				   ? 7
		      : !asks_kernel(privileged)			   ? 8
		      : open("/dev/null", O_WRONLY) >= 0 || errno != EPERM ? 9
		      : walks_otherwise()				   ? 10
									   : 0);
	}
	status = wait_for(child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_servers),
		cmocka_unit_test(test_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
