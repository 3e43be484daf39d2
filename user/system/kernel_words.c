/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_words.h. */
#include "system/kernel_words.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/proc_text.h"

#define FILES_MAX (1u << 16)

static void words_add(struct kernel_words *words, uint64_t word)
{
	words->items =
		memory_grow(words->items, words->count, &words->capacity, sizeof(*words->items));
	words->items[words->count++] = word;
}

/* The hexadecimal number behind `mark` in the line, if it has that. */
static void words_take(const char *line, const char *end, const char *mark,
		       struct kernel_words *words)
{
	const char *at = memmem(line, (size_t)(end - line), mark, strlen(mark));
	uint64_t word;

	if (!at)
		return;
	at += strlen(mark);
	while (at < end && *at == ' ')
		at++;
	if (proc_take_number(&at, end, 16, &word))
		words_add(words, word);
}

void kernel_words_parse(const char *text, size_t length, struct kernel_words *words)
{
	const char *end = text + length, *line, *next;

	for (line = text; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next : end;
		if (next - line > 4 && !strncmp(line, "tfd:", 4))
			words_take(line, next, "data:", words);
		else if (next - line > 7 && !strncmp(line, "signal:", 7))
			words_take(line, next, "/", words);
	}
}

static void words_read_file(const char *proc_root, pid_t pid, const char *name,
			    struct kernel_words *words)
{
	struct buffer text = { 0 };

	if (!proc_read_text(proc_root, pid, name, &text) && text.length)
		kernel_words_parse(text.data, text.length, words);
	buffer_free(&text);
}

void kernel_words_read(const char *proc_root, pid_t pid, pid_t thread, struct kernel_words *words)
{
	char *folder = memory_format("%s/%d/fd", proc_root, (int)thread), target[32], *name;
	DIR *directory = opendir(folder);
	struct dirent *entry;
	ssize_t length;
	size_t i;

	free(folder);
	words_read_file(proc_root, pid, "timers", words);
	for (i = 0; directory && i < FILES_MAX && (entry = readdir(directory)); i++) {
		length = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = '\0';
		if (!strcmp(target, "anon_inode:[io_uring]"))
			words->hidden |= KERNEL_HIDDEN_RINGS;
		if (strcmp(target, "anon_inode:[eventpoll]") != 0)
			continue;
		name = memory_format("fdinfo/%s", entry->d_name);
		words_read_file(proc_root, thread, name, words);
		free(name);
	}
	if (directory)
		closedir(directory);
}

/* No program gives these a value. */
static bool signals_are_plain(uint64_t mask)
{
	static const int plain[] = { SIGKILL, SIGCONT, SIGCHLD };
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		mask &= ~(1ull << (plain[i] - 1));
	return !mask;
}

unsigned int kernel_words_parse_signals(const char *text, size_t length)
{
	static const char *const names[] = { "\nSigPnd:\t", "\nShdPnd:\t" };
	const char *at, *end = text + length;
	uint64_t mask;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		at = memmem(text, length, names[i], strlen(names[i]));
		if (!at)
			continue;
		at += strlen(names[i]);
		if (proc_take_number(&at, end, 16, &mask) && !signals_are_plain(mask))
			return KERNEL_HIDDEN_SIGNALS;
	}
	return 0;
}

static unsigned int signals_of_thread(const char *proc_root, pid_t pid, const char *thread)
{
	char *name = memory_format("task/%s/status", thread);
	struct buffer text = { 0 };
	unsigned int found = 0;

	if (!proc_read_text(proc_root, pid, name, &text) && text.length)
		found = kernel_words_parse_signals(text.data, text.length);
	buffer_free(&text);
	free(name);
	return found;
}

unsigned int kernel_words_signals(const char *proc_root, pid_t pid)
{
	char *folder = memory_format("%s/%d/task", proc_root, (int)pid);
	DIR *directory = opendir(folder);
	unsigned int found = 0;
	struct dirent *entry;
	size_t i;

	free(folder);
	for (i = 0; directory && !found && i < FILES_MAX && (entry = readdir(directory)); i++)
		if (entry->d_name[0] != '.')
			found = signals_of_thread(proc_root, pid, entry->d_name);
	if (directory)
		closedir(directory);
	return found;
}
