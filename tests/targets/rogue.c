/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes whose stacks, mappings and code are not what a tracer hopes for: `rogue WHAT COUNT ARGUMENT...` says "ready" and
 * goes on until it is ended.
 *
 *   calls DEPTH STUBS FILE...  allocates at the end of DEPTH functions at random of the files, which have STUBS of them
 *                              each, of 64 bytes, from the second page on; each calls what the next word points to
 *   loop KIND                  allocates with a chain of frame pointers that leads to itself (0), to and fro (1), or to the
 *                              frame of a signal that came while that frame was returned from (2)
 *   generated COUNT            allocates from COUNT places of code that is in no file
 *   storm COUNT                maps and unmaps memory as fast as it can, COUNT ranges at a time
 *   libc COUNT FILE            has COUNT mappings of code of FILE
 *   threads COUNT              has so many threads, each of which has allocated 16 bytes at site_thread
 *   name COUNT NAME            runs code of a file in memory with this name, and has this name itself
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096ul
#define STUB 64ul
#define DEPTH_MAX 256
/* Stacks of one process. */
#define CHAINS 200

typedef void (*rogue_function)(void **next);

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(size_t size, int protection, int flags, int fd)
{
	void *memory = mmap(NULL, size, protection, MAP_PRIVATE | flags, fd, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static uint64_t random_state;

static uint32_t random_number(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33);
}

/* The last of a chain. Keeps some of it. */
__attribute__((noinline)) static void allocate(void **next)
{
	static unsigned int count;
	void *block = malloc(16);

	if (count++ % 16)
		free(block);
	__asm__ volatile("" : : "r"(next) : "memory");
}

static unsigned char *map_file(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *code;

	if (fd < 0)
		die(path);
	code = map(size, PROT_READ | PROT_EXEC, 0, fd);
	close(fd);
	return code;
}

/* Call `depth` of the functions, which are at `codes`. */
static void call(unsigned char **codes, uint32_t files, uint32_t stubs, uint32_t depth)
{
	void *chain[DEPTH_MAX + 1];
	uint32_t i;

	for (i = 0; i < depth; i++)
		chain[i] = codes[random_number() % files] + random_number() % stubs * STUB;
	chain[depth] = (void *)(uintptr_t)allocate;
	((rogue_function)(uintptr_t)chain[0])(chain);
}

static void calls(uint32_t depth, uint32_t stubs, char **paths)
{
	unsigned char **codes;
	uint32_t files = 0;

	while (paths[files])
		files++;
	codes = calloc(files, sizeof(*codes));
	if (!codes || depth < 1 || depth > DEPTH_MAX)
		die("calls");
	for (files = 0; paths[files]; files++)
		codes[files] = map_file(paths[files], PAGE + stubs * STUB) + PAGE;
	say_ready();
	for (;; random_state = (random_state + 1) % CHAINS) {
		uint64_t chain = random_state;

		call(codes, files, stubs, depth);
		random_state = chain;
		usleep(1000);
	}
}

#if defined(__x86_64__)
/* Sets the frame pointer to its second argument and calls its first; returns as if nothing had been. */
static const unsigned char stub_with_frame[] = { 0x55, 0x48, 0x89, 0xf5, 0xff, 0xd7, 0x5d, 0xc3 };
/* What stands behind the call in it. */
#define STUB_RETURN 6

struct kernel_action {
	void (*handler)(int number);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

/* Where handlers of signals return to. */
static uint64_t signal_return(void)
{
	struct kernel_action action = { 0 };

	signal(SIGUSR2, SIG_IGN);
	if (syscall(SYS_rt_sigaction, SIGUSR2, NULL, &action, 8))
		die("rt_sigaction");
	return (uintptr_t)action.restorer;
}

static void allocate_here(void)
{
	free(malloc(16));
}

static void loop(uint32_t kind)
{
	static uint64_t frames[512] __attribute__((aligned(16)));
	unsigned char *code = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_ANONYMOUS, -1);
	void (*stub)(void (*function)(void), void *frame) = (void (*)(void (*)(void), void *))code;
	uint64_t behind = (uintptr_t)code + STUB_RETURN;
	ucontext_t *context = (ucontext_t *)(frames + 2);

	memcpy(code, stub_with_frame, sizeof(stub_with_frame));
	frames[0] = (uintptr_t)(kind == 1 ? frames + 8 : frames);
	frames[1] = behind;
	if (kind == 1) {
		frames[8] = (uintptr_t)frames;
		frames[9] = behind;
	} else if (kind == 2) {
		frames[1] = signal_return();
		context->uc_mcontext.gregs[REG_RIP] = (greg_t)frames[1];
		context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)context;
		context->uc_mcontext.gregs[REG_RBP] = (greg_t)(uintptr_t)frames;
	}
	say_ready();
	for (;;) {
		stub(allocate_here, frames);
		usleep(1000);
	}
}
#else
static void loop(uint32_t kind)
{
	(void)kind;
	errno = ENOTSUP;
	die("loop");
}
#endif

#if defined(__x86_64__)
static const unsigned char stub_in_chain[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83,
					       0xc7, 0x08, 0xff, 0x17, 0x5d, 0xc3 };
#elif defined(__aarch64__)
static const uint32_t stub_in_chain[] = { 0xa9bf7bfd, 0x910003fd, 0xf8408c01,
					  0xd63f0020, 0xa8c17bfd, 0xd65f03c0 };
#endif

static void fill(unsigned char *code, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		memcpy(code + i * STUB, stub_in_chain, sizeof(stub_in_chain));
	__builtin___clear_cache((char *)code, (char *)code + count * STUB);
}

static void generated(uint32_t count)
{
	unsigned char *code =
		map(count * STUB, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_ANONYMOUS, -1);

	fill(code, count);
	printf("%lx\n", (unsigned long)(uintptr_t)code);
	say_ready();
	for (;;) {
		call(&code, 1, count, 1);
		usleep(1000);
	}
}

static void storm(uint32_t count)
{
	void **ranges = calloc(count, sizeof(*ranges));
	uint32_t i;

	if (!ranges)
		die("storm");
	say_ready();
	for (i = 0;; i = (i + 1) % count) {
		if (ranges[i])
			munmap(ranges[i], 3 * PAGE);
		ranges[i] = map(3 * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
		/* Half of it, so that there are two. */
		munmap((char *)ranges[i] + PAGE, PAGE);
	}
}

static void libc(uint32_t count, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	while (count--)
		map(PAGE, PROT_READ | PROT_EXEC, 0, fd);
	say_ready();
	for (;;)
		pause();
}

__attribute__((noinline)) static void *site_thread(void *nothing)
{
	void *block = malloc(16);

	__asm__ volatile("" : : "r"(block) : "memory");
	for (;;)
		pause();
	return nothing;
}

static void threads(uint32_t count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	say_ready();
	if (getchar() == EOF)
		return;
	while (count--)
		if ((errno = pthread_create(&thread, &attributes, site_thread, NULL)))
			die("pthread_create");
	say_ready();
	for (;;)
		pause();
}

static void name(uint32_t count, const char *text)
{
	int fd = memfd_create(text, MFD_CLOEXEC);
	unsigned char *code;

	if (fd < 0 || ftruncate(fd, (off_t)PAGE))
		die("memfd_create");
	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (code == MAP_FAILED)
		die("mmap");
	fill(code, count);
	code = map(PAGE, PROT_READ | PROT_EXEC, 0, fd);
	prctl(PR_SET_NAME, text);
	say_ready();
	for (;;) {
		call(&code, 1, count, 1);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "", *argument = argc > 3 ? argv[3] : "";
	uint32_t count = argc > 2 ? (uint32_t)atol(argv[2]) : 0;

	if (!strcmp(what, "calls") && argc > 4)
		calls(count, (uint32_t)atol(argument), argv + 4);
	else if (!strcmp(what, "loop"))
		loop(count);
	else if (!strcmp(what, "generated"))
		generated(count);
	else if (!strcmp(what, "storm"))
		storm(count);
	else if (!strcmp(what, "libc"))
		libc(count, argument);
	else if (!strcmp(what, "threads"))
		threads(count);
	else if (!strcmp(what, "name"))
		name(count, argument);
	fprintf(stderr, "see the top of rogue.c\n");
	return 2;
}
