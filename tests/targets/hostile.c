/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that make it hard to trace them: `hostile WHAT [COUNT [FILE...]]` says "ready" and goes on until it is ended.
 *
 *   names COUNT          has generated code, and a map of it with COUNT lines in no order, which it writes anew for ever
 *   mappings COUNT FILE  has FILE mapped COUNT times, and return addresses that lead to no mapping
 *   threads COUNT FILE   has FILE, an interpreter, mapped, and memory like that of COUNT threads that run nothing
 *   faults COUNT FILE    the same, of pages that are never there: who reads one waits for ever
 *   files COUNT FILE...  has the files mapped as code
 *   stacks COUNT         allocates with COUNT stacks
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define STUB 64ul

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(void *at, size_t size, int protection, int flags, int fd)
{
	void *memory = mmap(at, size, protection, flags, fd, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Any number comes once in 2^20 steps. */
static uint32_t next_number(uint32_t number)
{
	return (number * 5 + 3) & 0xfffff;
}

static void write_names(uint64_t code, uint32_t count)
{
	char path[64];
	uint32_t i, number = 1;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (!file)
		die(path);
	for (i = 0; i < count; i++, number = next_number(number))
		fprintf(file, "%" PRIx64 " 40 generated_%" PRIu32 "\n", code + number * STUB,
			number);
	fclose(file);
}

/* Calls malloc, with a frame pointer. */
static void write_stub(unsigned char *at)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {
		0x55, 0x48, 0x89, 0xe5, 0xbf, 16, 0, 0, 0, 0x48, 0xb8
	};
	static const unsigned char rest[] = { 0xff, 0xd0, 0x5d, 0xc3 };
	void *(*function)(size_t) = malloc;

	memcpy(at, code, sizeof(code));
	memcpy(at + sizeof(code), &function, sizeof(function));
	memcpy(at + sizeof(code) + sizeof(function), rest, sizeof(rest));
#else
	(void)at;
	errno = ENOTSUP;
	die("names");
#endif
}

static void names(uint32_t count)
{
	unsigned char *code = map(NULL, STUB << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	uint32_t number = 1, i;

	write_names((uintptr_t)code, count);
	say_ready();
	for (;;) {
		for (i = 0; i < 200; i++, number = next_number(number)) {
			void *(*stub)(void) = (void *(*)(void))(code + number * STUB);

			write_stub(code + number * STUB);
			free(stub());
			usleep(1000);
		}
		write_names((uintptr_t)code, count);
	}
}

/* Allocate with a stack that ends in `address`. */
__attribute__((noinline)) static void allocate_below(uint64_t address)
{
	volatile uint64_t *slot = (volatile uint64_t *)__builtin_frame_address(0) + 1;
	uint64_t before = *slot;
	void *block;

	*slot = address;
	block = malloc(16);
	*slot = before;
	free(block);
}

static void mappings(uint32_t count, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t address = 0x2000;
	uint32_t i;

	if (fd < 0)
		die(path);
	/* The same page again and again: such mappings are not joined. */
	for (i = 0; i < count; i++)
		map(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd);
	say_ready();
	for (;; address += PAGE) {
		allocate_below(address);
		usleep(1000);
	}
}

/* A page whose words are addresses, with the control block of a thread in its middle. */
static void write_thread(uint64_t *page)
{
	uint64_t *block = page + PAGE / 16, i;

	for (i = 0; i < PAGE / 8; i++)
		page[i] = (uintptr_t)page + i % 256 * 8;
	block[0] = block[2] = (uintptr_t)block;
}

static void take_faults(void *memory, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (uintptr_t)memory, size },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		die("userfaultfd");
}

/* Where the file's data would be is memory without a file. */
static void threads(uint32_t count, const char *path, int with_faults)
{
	size_t size, data = 64 << 20;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *image, *memory;
	uint32_t i;

	if (fd < 0)
		die(path);
	image = map(NULL, data, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	map(image, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd);
	map(image + PAGE, data - PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1);
	if (with_faults)
		take_faults(image + PAGE, data - PAGE);
	for (i = 0; i < count; i++) {
		/* Ranges of their own, with a gap between them. */
		size = 9 * PAGE;
		memory = map(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		map(memory, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		    -1);
		for (; size; size -= PAGE)
			write_thread((uint64_t *)(memory + size - PAGE));
	}
	say_ready();
	for (;;) {
		free(malloc(16));
		usleep(1000);
	}
}

static void files(char **paths)
{
	int fd;

	for (; *paths; paths++) {
		fd = open(*paths, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			die(*paths);
		map(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd);
		close(fd);
	}
	say_ready();
	for (;;) {
		free(malloc(16));
		usleep(1000);
	}
}

/* One of two ways at each of so many levels. */
__attribute__((noinline)) static void *descend(uint32_t number, int levels);
__attribute__((noinline)) static void *descend_odd(uint32_t number, int levels)
{
	void *block = descend(number >> 1, levels - 1);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

static void *descend(uint32_t number, int levels)
{
	void *block = !levels	   ? malloc(16)
		      : number & 1 ? descend_odd(number, levels)
				   : descend(number >> 1, levels - 1);

	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

static void stacks(uint32_t count)
{
	uint32_t i;

	say_ready();
	if (getchar() == EOF)
		return;
	for (i = 0; i < count; i++)
		descend(i, 20);
	say_ready();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *path = argc > 3 ? argv[3] : "";
	uint32_t count = argc > 2 ? (uint32_t)atol(argv[2]) : 0;

	if (!strcmp(what, "names"))
		names(count);
	else if (!strcmp(what, "mappings"))
		mappings(count, path);
	else if (!strcmp(what, "threads") || !strcmp(what, "faults"))
		threads(count, path, what[0] == 'f');
	else if (!strcmp(what, "files") && argc > 3)
		files(argv + 3);
	else if (!strcmp(what, "stacks"))
		stacks(count);
	fprintf(stderr, "see the top of hostile.c\n");
	return 2;
}
