/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a probe costs on each kind of instruction, and what the tracer's table says of it: an empty program on functions
 * that begin with it. Prints a line of JSON for each. The functions stand in a file of their own, which this program
 * maps and calls.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kernel/bpf_call.h"
#include "probe/trap.h"

#define SLOT 64 /* bytes of a function */
#define FILE_BYTES 4096
#define CHUNK 100 /* calls between two looks at the clock */
#define MEASURE_NS 20000000

/* A function: its first instruction, and the rest of it. */
struct kind {
	const char *name, *first;
	size_t length;
	const char *rest;
	size_t rest_length;
};

#define KIND(name, first, rest)                                        \
	{                                                              \
		name, first, sizeof(first) - 1, rest, sizeof(rest) - 1 \
	}
#define RETURNS "\xc3"

static const struct kind kinds[] = {
	KIND("push %rbp", "\x55", "\x5d\xc3"),
	KIND("push %r12", "\x41\x54", "\x41\x5c\xc3"),
	KIND("nop", "\x90", RETURNS),
	KIND("nop of 3 bytes", "\x0f\x1f\x00", RETURNS),
	KIND("nop of 5 bytes", "\x0f\x1f\x44\x00\x00", RETURNS),
	KIND("jmp, 8 bits", "\xeb\x00", RETURNS),
	KIND("jmp, 32 bits", "\xe9\x00\x00\x00\x00", RETURNS),
	KIND("je, 8 bits", "\x74\x00", RETURNS),
	KIND("je, 32 bits", "\x0f\x84\x00\x00\x00\x00", RETURNS),
	KIND("call, to the ret behind it", "\xe8\x00\x00\x00\x00", RETURNS),
	KIND("endbr64", "\xf3\x0f\x1e\xfa", RETURNS),
	KIND("sub $8,%rsp", "\x48\x83\xec\x08", "\x48\x83\xc4\x08\xc3"),
	KIND("mov %rdi,%rax", "\x48\x89\xf8", RETURNS),
	KIND("test %rdi,%rdi", "\x48\x85\xff", RETURNS),
	KIND("lea 1(%rdi),%rax", "\x48\x8d\x47\x01", RETURNS),
	KIND("xor %eax,%eax", "\x31\xc0", RETURNS),
	KIND("mov %fs:0x28,%rax", "\x64\x48\x8b\x04\x25\x28\x00\x00\x00", RETURNS),
	KIND("ret", "\xc3", ""),
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))
_Static_assert(KIND_COUNT *SLOT <= FILE_BYTES, "the functions have room");

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Nanoseconds of a call. */
static double traps_measure(void (*function)(void))
{
	uint64_t start = now(), end;
	unsigned long calls = 0;
	int i;

	do {
		for (i = 0; i < CHUNK; i++)
			function();
		calls += CHUNK;
		end = now();
	} while (end - start < MEASURE_NS);
	return (double)(end - start) / (double)calls;
}

/* A file with all functions. Returns its descriptor, or -1. */
static int traps_write(void)
{
	char path[] = "/tmp/tracer-traps-XXXXXX";
	uint8_t code[FILE_BYTES];
	int file = mkstemp(path);
	size_t i;

	memset(code, 0xcc, sizeof(code));
	for (i = 0; i < KIND_COUNT; i++) {
		memcpy(code + i * SLOT, kinds[i].first, kinds[i].length);
		memcpy(code + i * SLOT + kinds[i].length, kinds[i].rest, kinds[i].rest_length);
	}
	if (file < 0)
		return -1;
	unlink(path);
	return write(file, code, sizeof(code)) == sizeof(code) ? file : -1;
}

static int traps_probe(int program, int file, uint64_t offset)
{
	const uint64_t cookie = 0;
	struct uprobe_multi link = { .program = program,
				     .attach_type = ATTACH_UPROBE_MULTI,
				     .file = file,
				     .pid = getpid(),
				     .offsets = &offset,
				     .cookies = &cookie,
				     .count = 1 };

	return bpf_call_link_uprobes(&link);
}

static int traps_measure_all(int program, int file, const uint8_t *code)
{
	struct probe_features features = probe_features_running();
	size_t i;

	for (i = 0; i < KIND_COUNT; i++) {
		const uint8_t *function = code + i * SLOT;
		enum probe_cost cost = trap_cost((const uint8_t *)kinds[i].first, kinds[i].length,
						 (uintptr_t)function, &features);
		int link = traps_probe(program, file, i * SLOT);

		if (link < 0)
			return link;
		printf("{\"instruction\": \"%s\", \"cost\": \"%s\", \"ns\": %.0f}\n", kinds[i].name,
		       probe_cost_name(cost), traps_measure((void (*)(void))(uintptr_t)function));
		close(link);
	}
	return 0;
}

int main(void)
{
	int program = bpf_call_load_empty(ATTACH_UPROBE_MULTI), file = traps_write(), code;
	const uint8_t *functions;

	if (program < 0 || file < 0) {
		fprintf(stderr, "traps: no empty program, or no file for the functions\n");
		return 1;
	}
	functions = mmap(NULL, FILE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	if (functions == MAP_FAILED) {
		perror("traps: mmap");
		return 1;
	}
	code = traps_measure_all(program, file, functions);
	if (code)
		fprintf(stderr, "traps: %s\n", strerror(-code));
	return code != 0;
}
