/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See thread_iterator.h. Each read takes a descriptor of its own, which is opened before privileges are dropped. */
#include "kernel/thread_iterator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "registers_abi.h"
#include "registers.skel.h"

#define RECORDS 256 /* read at once */

struct thread_iterator {
	struct registers_bpf *bpf;
	struct bpf_link *link;
	int *fds; /* one for each read; owned */
	size_t count, next;
};

static int iterator_load(struct thread_iterator *iterator, pid_t pid)
{
	int code;

	libbpf_set_print(NULL);
	iterator->bpf = registers_bpf__open();
	if (!iterator->bpf)
		return -errno;
	iterator->bpf->rodata->setting_process = pid;
	code = registers_bpf__load(iterator->bpf);
	if (code)
		return code;
	iterator->link = bpf_program__attach_iter(iterator->bpf->progs.thread_registers, NULL);
	return iterator->link ? 0 : -errno;
}

int thread_iterator_open(pid_t pid, size_t reads, struct thread_iterator **ret_iterator)
{
	struct thread_iterator *iterator = memory_alloc(1, sizeof(*iterator));
	int code = iterator_load(iterator, pid), fd;

	iterator->fds = memory_alloc(reads, sizeof(*iterator->fds));
	while (!code && iterator->count < reads) {
		fd = bpf_iter_create(bpf_link__fd(iterator->link));
		if (fd < 0)
			code = -errno;
		else
			iterator->fds[iterator->count++] = fd;
	}
	if (code) {
		thread_iterator_free(iterator);
		return code;
	}
	*ret_iterator = iterator;
	return 0;
}

void thread_iterator_free(struct thread_iterator *iterator)
{
	size_t i;

	if (!iterator)
		return;
	for (i = 0; i < iterator->count; i++)
		close(iterator->fds[i]);
	free(iterator->fds);
	bpf_link__destroy(iterator->link);
	registers_bpf__destroy(iterator->bpf);
	free(iterator);
}

static void iterator_add(struct thread_registers_list *list, const struct registers_record *record)
{
	struct thread_registers *thread;

	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	thread = &list->items[list->count++];
	*thread = (struct thread_registers){
		.tid = (pid_t)record->tid,
		.memory_users = record->memory_users,
		.signal_stack = record->signal_stack,
		.stack_pointer = record->words[REGISTERS_STACK_POINTER],
		.count = REGISTERS_WORDS,
	};
	memcpy(thread->words, record->words, sizeof(record->words));
}

bool thread_iterator_read(struct thread_iterator *iterator, struct thread_registers_list *list)
{
	struct registers_record *records;
	size_t before = list->count, i;
	ssize_t got;
	int fd;

	if (iterator->next == iterator->count)
		return false;
	fd = iterator->fds[iterator->next++];
	records = memory_alloc(RECORDS, sizeof(*records));
	/* The kernel gives whole records. It pauses where it has passed many other processes. */
	while ((got = read(fd, records, RECORDS * sizeof(*records))) > 0 ||
	       (got < 0 && (errno == EAGAIN || errno == EINTR)))
		for (i = 0; got > 0 && i < (size_t)got / sizeof(*records); i++)
			iterator_add(list, &records[i]);
	free(records);
	list->is_whole = !got && list->count > before;
	return list->is_whole;
}
