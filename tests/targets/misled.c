/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * malloc of the C library returns something else than its code in the file does: its ends, "pop; ... ret", lead to code of this program,
 * which adds 16 to the result of the calls of other_result. At the first line that it reads it makes CALLS such calls, at the next
 * one the same number of others, by plain_result; then it writes how many bytes of the latter are in use, and goes on at the end of its input.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLS 300
#define SIZE 48
#define ADDED 16
#define STUB_MAX 64
#define ENDS_MAX 16

#define SITE __attribute__((noinline)) static void *

static uint8_t *stubs;
static size_t stub_count;
static volatile uint8_t *adds; /* behind the stubs */
static void *kept[CALLS];

#if defined(__x86_64__)

/* Bytes of "pop" instructions that end at `end`, and begin at `begin` or later. */
static size_t pops_before(const uint8_t *begin, const uint8_t *end)
{
	const uint8_t *at = end;

	while (at > begin && (at[-1] & 0xf8) == 0x58)
		at -= at - begin > 1 && at[-2] == 0x41 ? 2 : 1;
	return (size_t)(end - at);
}

/* cmpb $0,adds; je over; add $16,%rax; over: the replaced code, which ends by "ret". */
static uint8_t *make_stub(const uint8_t *code, size_t size)
{
	uint8_t *stub = stubs + stub_count++ * STUB_MAX, *at = stub;
	int32_t distance;

	*at++ = 0x80;
	*at++ = 0x3d;
	distance = (int32_t)((uint8_t *)adds - (at + 5));
	memcpy(at, &distance, 4);
	at += 4;
	*at++ = 0;
	memcpy(at, "\x74\x04\x48\x83\xc0\x10", 6);
	at += 6;
	memcpy(at, code, size);
	return stub;
}

static void turn_end(uint8_t *end, size_t size)
{
	uint8_t *stub = make_stub(end, size);
	int32_t distance = (int32_t)(stub - (end + 5));

	end[0] = 0xe9;
	memcpy(end + 1, &distance, 4);
}

static void turn_ends(uint8_t *code, size_t size)
{
	size_t at, pops;

	for (at = 1; at < size && stub_count < ENDS_MAX; at++) {
		if (code[at] != 0xc3)
			continue;
		pops = pops_before(code, code + at);
		if (pops + 1 >= 5)
			turn_end(code + at - pops, pops + 1);
	}
}

/* How many ends of malloc lead elsewhere now. */
static size_t turn_malloc(void)
{
	void *function = dlsym(RTLD_DEFAULT, "malloc");
	const ElfW(Sym) *symbol = NULL;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start, end;
	Dl_info info;

	if (!dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return 0;
	start = (uintptr_t)function & ~(page - 1);
	end = ((uintptr_t)function + symbol->st_size + page - 1) & ~(page - 1);
	/* Near the library, so that a jump leads there. */
	stubs = mmap((void *)(((uintptr_t)info.dli_fbase - 64 * page) & ~(page - 1)), page,
		     PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stubs == MAP_FAILED || llabs((intptr_t)stubs - (intptr_t)function) > 1ll << 30)
		return 0;
	adds = stubs + page - 1;
	if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 0;
	turn_ends(function, symbol->st_size);
	mprotect((void *)start, end - start, PROT_READ | PROT_EXEC);
	return stub_count;
}

#else

static size_t turn_malloc(void)
{
	return 0;
}

#endif

SITE plain_result(void)
{
	void *block = malloc(SIZE);

	return block ? memset(block, 1, SIZE) : NULL;
}

SITE other_result(void)
{
	uint8_t *block;

	*adds = 1;
	block = malloc(SIZE);
	*adds = 0;
	return block - ADDED;
}

int main(void)
{
	char line[16];
	int i;

	free(malloc(1));
	if (!turn_malloc() || (uint8_t *)other_result() == NULL) {
		printf("none\n");
		return 0;
	}
	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (i = 0; i < CALLS; i++)
		free(other_result());
	printf("done\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (i = 0; i < CALLS; i++)
		kept[i] = plain_result();
	printf("%d\n", CALLS * SIZE);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return kept[0] == NULL;
}
