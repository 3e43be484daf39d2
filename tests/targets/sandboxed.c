/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with a seccomp filter. `sandboxed [wait]` dies of the system calls that probes make, where the kernel asks its
 * filter about them, and otherwise keeps an account as others do. `sandboxed CALL CMD ARG...` executes a command that is
 * refused a system call: bpf, perf_event_open, pidfd_open or close_range.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "truth.h"

/* Of x86-64. */
#define CALL_URETPROBE 335
#define CALL_UPROBE 336

/* Headers of older distributions lack it. */
#define CALL_CLOSE_RANGE 436

static void forbid(unsigned int one, unsigned int other, unsigned int action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		abort();
}

SITE static void *site_sandboxed(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

int main(int argc, char **argv)
{
	unsigned int call = SYS_bpf;
	int i;

	if (argc > 2) {
		if (!strcmp(argv[1], "perf_event_open"))
			call = SYS_perf_event_open;
		if (!strcmp(argv[1], "pidfd_open"))
			call = SYS_pidfd_open;
		if (!strcmp(argv[1], "close_range"))
			call = CALL_CLOSE_RANGE;
		forbid(call, call, SECCOMP_RET_ERRNO | 1);
		execvp(argv[2], argv + 2);
		return 127;
	}
	forbid(CALL_URETPROBE, CALL_UPROBE, SECCOMP_RET_KILL_PROCESS);
	truth_begin(argv[argc - 1]);
	for (i = 0; i < 500; i++) {
		void *block = site_sandboxed(100 + (size_t)i);

		if (i % 2) {
			free(block);
			truth_free("site_sandboxed", 100 + (size_t)i);
		}
	}
	truth_end();
	return 0;
}
