/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generates a function that allocates, as JIT compilers do, and writes its name to /tmp/perf-PID.map, with the pid that it
 * has itself: jit [OWNER]. With OWNER, the map is given to that user. Prints "ready", waits for a line, allocates 10 blocks of
 * 40,961 bytes, prints "{}" and waits for another line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE 40961
#define TIMES 10

typedef void *(*generated)(void);

/* push rbp; mov rbp, rsp; mov edi, SIZE; movabs rax, malloc; call rax; pop rbp; ret */
static generated generate(void)
{
	unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xbf, 0, 0, 0,	   0,	 0x48, 0xb8, 0,
				 0,    0,    0,	   0,	 0,    0, 0, 0xff, 0xd0, 0x5d, 0xc3 };
	uint32_t size = SIZE;
	uint64_t address = (uintptr_t)malloc;
	unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	generated function;

	if (memory == MAP_FAILED)
		exit(2);
	memcpy(code + 5, &size, sizeof(size));
	memcpy(code + 11, &address, sizeof(address));
	memcpy(memory, code, sizeof(code));
	memcpy(&function, &memory, sizeof(function));
	return function;
}

static void name(generated function, const char *path)
{
	FILE *map = fopen(path, "w");

	if (!map)
		exit(2);
	fprintf(map, "1000 20 elsewhere\n%lx 17 generated function:7\n",
		(unsigned long)(uintptr_t)function);
	fclose(map);
}

int main(int argc, char **argv)
{
	static void *volatile kept[TIMES] __attribute__((used));
	generated function = generate();
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	name(function, path);
	if (argc > 1 && chown(path, (uid_t)atoi(argv[1]), (gid_t)-1))
		return 2;
	puts("ready");
	fflush(stdout);
	getchar();
	for (i = 0; i < TIMES; i++)
		kept[i] = function();
	puts("{}");
	fflush(stdout);
	while (getchar() != EOF)
		;
	unlink(path);
	return 0;
}
