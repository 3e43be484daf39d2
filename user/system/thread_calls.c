/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See thread_calls.h. */
#include "system/thread_calls.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

/* Takes the next word, "0x..." */
static bool calls_take(const char **at, const char *end, uint64_t *ret_word)
{
	while (*at < end && **at == ' ')
		++*at;
	if (end - *at < 3 || strncmp(*at, "0x", 2) != 0)
		return false;
	*at += 2;
	return proc_take_number(at, end, 16, ret_word);
}

/* "0 0x3 0x7f... 0x... SP PC", "-1 SP PC", "running" */
bool thread_calls_parse(const char *text, size_t length, struct thread_registers *ret_registers)
{
	const char *at = text, *end = text + length;
	uint64_t word;

	while (at < end && *at != ' ' && *at != '\n')
		at++;
	ret_registers->count = 0;
	while (ret_registers->count < THREAD_WORDS_MAX && calls_take(&at, end, &word))
		ret_registers->words[ret_registers->count++] = word;
	if (ret_registers->count < 2)
		return false;
	ret_registers->stack_pointer = ret_registers->words[ret_registers->count - 2];
	return true;
}

static void calls_read_thread(const char *proc_root, pid_t pid, const char *thread,
			      struct thread_registers_list *list)
{
	char *name = memory_format("task/%s/syscall", thread);
	struct thread_registers registers = { .tid = (pid_t)strtol(thread, NULL, 10) };
	struct buffer text = { 0 };

	if (!proc_read_text(proc_root, pid, name, &text) && text.length &&
	    thread_calls_parse(text.data, text.length, &registers)) {
		list->items = memory_grow(list->items, list->count, &list->capacity,
					  sizeof(*list->items));
		list->items[list->count++] = registers;
	}
	buffer_free(&text);
	free(name);
}

void thread_calls_read(const char *proc_root, pid_t pid, struct thread_registers_list *list)
{
	char *path = memory_format("%s/%d/task", proc_root, (int)pid);
	DIR *folder = opendir(path);
	struct dirent *entry;

	free(path);
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			calls_read_thread(proc_root, pid, entry->d_name, list);
	if (folder)
		closedir(folder);
}
