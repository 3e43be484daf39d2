/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs programs again and again, each time as a new process, and compares how they end: `again RUNS FILE`. Each two lines of
 * FILE are a command, with blanks between its words, and what it prints. The commands take turns. For each, a line of JSON:
 * its number of runs, those that a signal killed, those that ended with another status than 0, and those that printed
 * something else.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMANDS_MAX 64
#define WORDS_MAX 8
#define LINE_MAX_LENGTH 4096

struct command {
	char *line, *expected;
	char *words[WORDS_MAX + 1];
	unsigned long runs, killed, failed, wrong;
	int status; /* of the last one that was killed or failed */
};

static struct command commands[COMMANDS_MAX];
static size_t command_count;

static char *again_read_line(FILE *file)
{
	static char line[LINE_MAX_LENGTH];

	if (!fgets(line, sizeof(line), file))
		return NULL;
	line[strcspn(line, "\n")] = 0;
	return strdup(line);
}

static void again_read(const char *path)
{
	FILE *file = fopen(path, "r");
	struct command *command;
	char *line, *words;
	size_t i;

	if (!file)
		abort();
	while (command_count < COMMANDS_MAX && (line = again_read_line(file))) {
		command = &commands[command_count++];
		command->line = line;
		command->expected = again_read_line(file);
		words = strdup(line);
		for (i = 0; i < WORDS_MAX && (command->words[i] = strtok(i ? NULL : words, " "));
		     i++)
			;
	}
	fclose(file);
}

/* All that comes out of the pipe; the first line of it is kept. */
static void again_read_output(int fd, char *line)
{
	char part[256];
	size_t length = 0, taken;
	ssize_t count;

	while ((count = read(fd, part, sizeof(part))) > 0) {
		taken = (size_t)count < LINE_MAX_LENGTH - 1 - length ? (size_t)count
								     : LINE_MAX_LENGTH - 1 - length;
		memcpy(line + length, part, taken);
		length += taken;
	}
	line[length] = 0;
	line[strcspn(line, "\n")] = 0;
}

static pid_t again_start(struct command *command, int *ret_fd)
{
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		abort();
	pid = fork();
	if (!pid) {
		dup2(pipes[1], 1);
		close(pipes[0]);
		close(pipes[1]);
		execv(command->words[0], command->words);
		_exit(127);
	}
	close(pipes[1]);
	*ret_fd = pipes[0];
	return pid;
}

static void again_run(struct command *command)
{
	static char output[LINE_MAX_LENGTH];
	int fd, status = -1;
	pid_t pid = again_start(command, &fd);

	again_read_output(fd, output);
	close(fd);
	while (pid > 0 && waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			abort();
	command->runs++;
	if (status)
		command->status = status;
	if (pid > 0 && WIFSIGNALED(status))
		command->killed++;
	else if (status)
		command->failed++;
	else if (!command->expected || strcmp(output, command->expected) != 0)
		command->wrong++;
}

int main(int argc, char **argv)
{
	unsigned long runs = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, turn;
	struct command *command;

	if (argc > 2)
		again_read(argv[2]);
	for (turn = 0; turn < runs; turn++)
		for (command = commands; command < commands + command_count; command++)
			again_run(command);
	for (command = commands; command < commands + command_count; command++)
		printf("{\"command\": \"%s\", \"runs\": %lu, \"killed\": %lu, \"failed\": %lu, "
		       "\"wrong\": %lu, \"status\": %d}\n",
		       command->line, command->runs, command->killed, command->failed,
		       command->wrong, command->status);
	return 0;
}
