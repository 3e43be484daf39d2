/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the kernel allocate: "MILLISECONDS files" opens and closes a file for so long, "pipes" makes a pipe, writes a page to it and
 * closes it, "forks" starts a process that ends. Answers how often, and what CPU time it took.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void work(const char *what)
{
	static char page[4096];
	int ends[2];
	pid_t pid;

	if (!strcmp(what, "files")) {
		close(open("/dev/null", O_RDONLY));
	} else if (!strcmp(what, "pipes")) {
		if (pipe(ends) || write(ends[1], page, sizeof(page)) < 0)
			exit(1);
		close(ends[0]);
		close(ends[1]);
	} else {
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

int main(void)
{
	char what[16];
	long long milliseconds, end, begin, rounds;

	while (scanf("%lld %15s", &milliseconds, what) == 2) {
		begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
		end = now_ns(CLOCK_MONOTONIC) + milliseconds * 1000000;
		for (rounds = 0; now_ns(CLOCK_MONOTONIC) < end; rounds++)
			work(what);
		printf("{\"rounds\": %lld, \"cpu_ns\": %lld}\n", rounds,
		       now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
		fflush(stdout);
	}
	return 0;
}
