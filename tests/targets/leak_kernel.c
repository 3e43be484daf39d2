/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * COUNT blocks whose only addresses the kernel has; where, the argument says: "flight", user_data of io_uring's requests that wait;
 * "done", of completions in its ring; "aio", data of aio's requests that wait; "signals", values of queued signals; "stack", one
 * block, which is the alternate signal stack. Prints a line when they are there, then waits for its input to end.
 */
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scrub.h"

#define COUNT 100
#define SIZE 808
#define RING 128

static int pipes[2];

static __attribute__((noinline)) void *make(size_t size)
{
	void *block = malloc(size);

	memset(block, 0, size);
	return block;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *map_ring(int fd, size_t size, off_t offset)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (memory == MAP_FAILED)
		fail("mmap");
	return memory;
}

/* The entries are the kernel's copy then: the ring's are cleared. */
static __attribute__((noinline)) void start_ring(int operation)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, RING, &params);
	struct io_uring_sqe *entries;
	unsigned int i, *array, *tail;
	char *ring;

	if (fd < 0)
		fail("io_uring_setup");
	ring = map_ring(fd, params.sq_off.array + RING * sizeof(*array), IORING_OFF_SQ_RING);
	map_ring(fd, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		 IORING_OFF_CQ_RING);
	entries = map_ring(fd, RING * sizeof(*entries), IORING_OFF_SQES);
	array = (unsigned int *)(ring + params.sq_off.array);
	tail = (unsigned int *)(ring + params.sq_off.tail);
	for (i = 0; i < COUNT; i++) {
		entries[i] =
			(struct io_uring_sqe){ .opcode = (__u8)operation,
					       .fd = operation == IORING_OP_NOP ? -1 : pipes[0],
					       .poll32_events = POLLIN,
					       .user_data = (uintptr_t)make(SIZE) };
		if (operation == IORING_OP_NOP)
			entries[i].poll32_events = 0;
		array[i] = i;
	}
	__atomic_store_n(tail, COUNT, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, COUNT, 0, 0, NULL, 0) != COUNT)
		fail("io_uring_enter");
	memset(entries, 0, RING * sizeof(*entries));
}

static __attribute__((noinline)) void start_aio(void)
{
	aio_context_t context = 0;
	int i;

	if (syscall(SYS_io_setup, RING, &context))
		fail("io_setup");
	for (i = 0; i < COUNT; i++) {
		struct iocb request = { .aio_lio_opcode = IOCB_CMD_POLL,
					.aio_fildes = (__u32)pipes[0],
					.aio_buf = POLLIN,
					.aio_data = (uintptr_t)make(SIZE) };
		struct iocb *list = &request;

		if (syscall(SYS_io_submit, context, 1, &list) != 1)
			fail("io_submit");
	}
}

static __attribute__((noinline)) void queue_signals(void)
{
	sigset_t set;
	int i;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < COUNT; i++)
		if (sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_ptr = make(SIZE) }))
			fail("sigqueue");
}

static __attribute__((noinline)) void set_stack(void)
{
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = make(stack.ss_size);
	if (sigaltstack(&stack, NULL))
		fail("sigaltstack");
}

int main(int count, char **arguments)
{
	const char *where = count > 1 ? arguments[1] : "";
	char byte;

	if (pipe(pipes))
		return 1;
	if (!strcmp(where, "flight"))
		start_ring(IORING_OP_POLL_ADD);
	if (!strcmp(where, "done"))
		start_ring(IORING_OP_NOP);
	if (!strcmp(where, "aio"))
		start_aio();
	if (!strcmp(where, "signals"))
		queue_signals();
	if (!strcmp(where, "stack"))
		set_stack();
	scrub();
	printf("placed\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
