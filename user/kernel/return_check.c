/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See return_check.h. The child only waits, calls a function of no effect, and exits. */
#include "kernel/return_check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/bpf_call.h"
#include "kernel/link_task.h"
#include "kernel/own_code.h"

/* The system calls of x86-64 that probes make. */
#define CALL_URETPROBE 335
#define CALL_UPROBE 336

/* The kernel makes a probe on a 5-byte nop a system call only after it was hit as a breakpoint. */
#define CHECK_CALLS 8

#define CHILD_LIVES 42
#define CHILD_HAS_NO_FILTER 43

#if defined(__x86_64__)
extern void return_check_probed(void);
__asm__(".pushsection .text\n"
	".p2align 4\n"
	".globl return_check_probed\n"
	".hidden return_check_probed\n"
	".type return_check_probed, @function\n"
	"return_check_probed:\n"
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	"	ret\n"
	".size return_check_probed, . - return_check_probed\n"
	".popsection\n");

/* Everything is allowed but what the probes call. */
static int child_set_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL_URETPROBE, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL_UPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void __attribute__((noreturn)) child_run(int socket)
{
	char byte;
	int i;

	prctl(PR_SET_DUMPABLE, 0);
	if (child_set_filter())
		_exit(CHILD_HAS_NO_FILTER);
	/* A byte means that the probe is attached; the end of the stream, that the tracer has ended. */
	if (read(socket, &byte, 1) != 1)
		_exit(CHILD_HAS_NO_FILTER);
	for (i = 0; i < CHECK_CALLS; i++)
		return_check_probed();
	_exit(CHILD_LIVES);
}

/* Probe the return of the function in the child. Returns a descriptor or a negative errno. */
static int check_attach(pid_t child)
{
	uint64_t cookie = 0, offset;
	struct uprobe_multi probes = {
		.attach_type = ATTACH_UPROBE_MULTI,
		.pid = child,
		.returns = true,
		.offsets = &offset,
		.cookies = &cookie,
		.count = 1,
	};
	int link = own_code_offset((uintptr_t)return_check_probed, &offset);

	if (link)
		return link;
	probes.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	probes.program = bpf_call_load_empty(ATTACH_UPROBE_MULTI);
	link = probes.file < 0 || probes.program < 0 ? -EIO : bpf_call_link_uprobes(&probes);
	if (probes.file >= 0)
		close(probes.file);
	if (probes.program >= 0)
		close(probes.program);
	return link;
}

static enum return_check check_judge(pid_t child)
{
	int status;

	if (TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) != child)
		return RETURNS_UNKNOWN;
	if (WIFSIGNALED(status))
		return RETURNS_FATAL;
	return WEXITSTATUS(status) == CHILD_LIVES ? RETURNS_SAFE : RETURNS_UNKNOWN;
}

static enum return_check check_child(void)
{
	enum return_check result;
	int sockets[2], link;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return RETURNS_UNKNOWN;
	child = fork();
	if (!child) {
		close(sockets[0]);
		child_run(sockets[1]);
	}
	close(sockets[1]);
	link = child < 0 ? -EAGAIN : check_attach(child);
	/* Without a probe the child is only to end. */
	if (link >= 0 && send(sockets[0], "", 1, MSG_NOSIGNAL) != 1)
		link = -EIO;
	if (link < 0)
		shutdown(sockets[0], SHUT_RDWR);
	result = child < 0 ? RETURNS_UNKNOWN : check_judge(child);
	close(sockets[0]);
	if (link >= 0)
		link_task_close(&link, 1);
	return result;
}
#endif

enum return_check return_check_run(const struct kernel_features *features)
{
	/* Kernels that cannot link many probes are older than the system call. */
	if (!features->backends[BACKEND_KERNEL_MULTI])
		return RETURNS_SAFE;
#if defined(__x86_64__)
	return check_child();
#else
	return RETURNS_SAFE;
#endif
}
