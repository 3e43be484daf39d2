/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See trap_meter.h. The process probes itself, so its links end with it, and it leaves no breakpoint in any other one. */
#include "kernel/trap_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/bpf_call.h"
#include "kernel/own_code.h"
#include "kernel/perf_probe.h"
#include "system/fd_table.h"

/* A figure is the median of ROUNDS, each of so many calls that it takes about ROUND_NS, after some that are not counted. */
#define ROUNDS 9
#define ROUND_NS 250000
#define CALLS_FIRST 12
#define CALLS_MAX 4096
#define PROBES_MAX 4

/* How a function is probed. */
struct meter_probe {
	void (*function)(void);
	bool returns; /* its return is, too */
	uint32_t *ns; /* where the cost of a call goes */
};

struct meter_answer {
	int code; /* 0 or a negative errno */
	struct trap_costs costs;
};

/* The functions begin with an instruction of each class. On arm64 the kernel simulates branches and steps the rest. */
extern void trap_meter_emulated(void);
extern void trap_meter_stepped(void);
extern void trap_meter_optimized(void);
extern void trap_meter_returning(void);

#define FUNCTION(name, code)                                          \
	__asm__(".pushsection .text\n"                                \
		".p2align 6\n"                                        \
		".globl " name "\n"                                   \
		".hidden " name "\n"                                  \
		".type " name ", @function\n" name ":\n" code "ret\n" \
		".size " name ", . - " name "\n"                      \
		".popsection\n")

#if defined(__x86_64__)
FUNCTION("trap_meter_emulated", "push %rbp\npop %rbp\n");
FUNCTION("trap_meter_stepped", "mov %rdi, %rax\n");
FUNCTION("trap_meter_optimized", ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n");
FUNCTION("trap_meter_returning", "push %rbp\npop %rbp\n");
#else
FUNCTION("trap_meter_emulated", "b 1f\n1: nop\n");
FUNCTION("trap_meter_stepped", "mov x1, x0\n");
FUNCTION("trap_meter_optimized", "nop\n");
FUNCTION("trap_meter_returning", "b 1f\n1: nop\n");
#endif

static int meter_link(enum backend backend, const struct meter_probe *probe, int file,
		      uint64_t offset, bool returns)
{
	const uint64_t cookie = 0;
	bool session = backend == BACKEND_KERNEL_SESSION && probe->returns;
	struct uprobe_multi link = { .attach_type = session ? ATTACH_UPROBE_SESSION
							    : ATTACH_UPROBE_MULTI,
				     .file = file,
				     .pid = getpid(),
				     .returns = returns && !session,
				     .offsets = &offset,
				     .cookies = &cookie,
				     .count = 1 };
	struct perf_probe event = { .file = file,
				    .offset = offset,
				    .pid = getpid(),
				    .returns = returns,
				    .linked = backend == BACKEND_KERNEL_PERF };
	bool by_event = backend > BACKEND_KERNEL_MULTI;

	link.program = event.program = bpf_call_load_empty(by_event ? 0 : link.attach_type);
	if (link.program < 0)
		return link.program;
	return by_event ? perf_probe_attach(&event) : bpf_call_link_uprobes(&link);
}

/* The links stay open: they are closed as the process ends. */
static int meter_attach(enum backend backend, const struct meter_probe *probe, int file)
{
	bool session = probe->returns && backend == BACKEND_KERNEL_SESSION;
	uint64_t offset;
	int code = own_code_offset((uintptr_t)probe->function, &offset);

	if (!code && probe->returns)
		code = meter_link(backend, probe, file, offset, true);
	/* A session is both. */
	if (code >= 0 && !session)
		code = meter_link(backend, probe, file, offset, false);
	return code < 0 ? code : 0;
}

static uint64_t meter_time(void (*function)(void), unsigned int calls)
{
	uint64_t start = clock_thread_ns();
	unsigned int i;

	for (i = 0; i < calls; i++)
		function();
	return clock_thread_ns() - start;
}

static int meter_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* How many calls fill a round. */
static unsigned int meter_calls(void (*function)(void))
{
	uint64_t first, calls;

	meter_time(function, CALLS_FIRST);
	first = meter_time(function, CALLS_FIRST) / CALLS_FIRST;
	calls = ROUND_NS / (first ? first : 1);
	return (unsigned int)(calls < CALLS_FIRST ? CALLS_FIRST
			      : calls > CALLS_MAX ? CALLS_MAX
						  : calls);
}

/*
 * Nanoseconds of a call of each. They take turns: what else the machine does in a round slows all of them, and what one costs
 * more than another is what is asked for.
 */
static void meter_measure(const struct meter_probe *probes, size_t count)
{
	uint64_t rounds[PROBES_MAX][ROUNDS];
	unsigned int calls[PROBES_MAX];
	size_t i, round;

	for (i = 0; i < count; i++)
		calls[i] = meter_calls(probes[i].function);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < count; i++)
			rounds[i][round] = meter_time(probes[i].function, calls[i]);
	for (i = 0; i < count; i++) {
		qsort(rounds[i], ROUNDS, sizeof(rounds[i][0]), meter_compare);
		*probes[i].ns = (uint32_t)(rounds[i][ROUNDS / 2] / calls[i]);
	}
}

static int meter_measure_all(enum backend backend, const struct probe_features *traps,
			     struct trap_costs *ret_costs)
{
	struct trap_costs costs = { 0 };
	const struct meter_probe probes[PROBES_MAX] = {
		{ trap_meter_emulated, false, &costs.emulated_ns },
		{ trap_meter_stepped, false, &costs.stepped_ns },
		{ trap_meter_returning, true, &costs.return_ns },
		{ trap_meter_optimized, false, &costs.optimized_ns },
	};
	size_t count = PROBES_MAX - !traps->optimizes_nop5, i;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), code = file < 0 ? -errno : 0;

	for (i = 0; i < count && !code; i++)
		code = meter_attach(backend, &probes[i], file);
	if (!code)
		meter_measure(probes, count);
	costs.return_ns -= costs.return_ns < costs.emulated_ns ? costs.return_ns
							       : costs.emulated_ns;
	*ret_costs = costs;
	return code;
}

static void __attribute__((noreturn))
meter_run(int fd, pid_t tracer, enum backend backend, const struct probe_features *traps)
{
	struct meter_answer answer = { 0 };
	bool own;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	if (getppid() != tracer)
		_exit(1);
	/* What waits for the tracer to close a descriptor must not wait for this process. */
	answer.code = fd_table_keep(fd, STDERR_FILENO, &own);
	if (!answer.code)
		answer.code = meter_measure_all(backend, traps, &answer.costs);
	_exit(TEMP_FAILURE_RETRY(write(fd, &answer, sizeof(answer))) < 0);
}

static int meter_start(struct trap_meter *meter, enum backend backend,
		       const struct probe_features *traps)
{
	pid_t tracer = getpid(), pid;
	int fds[2], code;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		meter_run(fds[1], tracer, backend, traps);
	code = pid < 0 ? -errno : 0;
	close(fds[1]);
	if (code) {
		close(fds[0]);
		return code;
	}
	meter->pid = pid;
	meter->fd = fds[0];
	return 0;
}

void trap_meter_start(struct trap_meter *meter, enum backend backend,
		      const struct probe_features *traps)
{
	*meter = (struct trap_meter){ 0 };
	meter->code = meter_start(meter, backend, traps);
}

int trap_meter_read(struct trap_meter *meter, int timeout_ms, struct trap_costs *ret_costs)
{
	struct pollfd wait = { .fd = meter->fd, .events = POLLIN };
	struct meter_answer answer;
	ssize_t size;

	if (meter->fd <= 0)
		return meter->code ? meter->code : -ECHILD;
	if (TEMP_FAILURE_RETRY(poll(&wait, 1, timeout_ms)) != 1)
		return -EINPROGRESS;
	size = TEMP_FAILURE_RETRY(read(meter->fd, &answer, sizeof(answer)));
	close(meter->fd);
	meter->fd = 0;
	if (size != sizeof(answer))
		return -ECHILD;
	*ret_costs = answer.costs;
	return answer.code;
}

void trap_meter_reap(struct trap_meter *meter)
{
	if (meter->pid && waitpid(meter->pid, NULL, WNOHANG) == meter->pid)
		meter->pid = 0;
}

void trap_meter_close(struct trap_meter *meter)
{
	if (meter->pid)
		TEMP_FAILURE_RETRY(waitpid(meter->pid, NULL, 0));
	if (meter->fd > 0)
		close(meter->fd);
	*meter = (struct trap_meter){ 0 };
}
