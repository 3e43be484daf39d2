/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tests' own account of a program: a library to preload, which counts what malloc and its kin are asked for. It shares
 * no code with the tracer and no way of seeing: it is called.
 *
 * Every program of a tree of processes has a slot in the file that COUNTER_FILE names. The file is mapped, so the figures
 * of the last call are there, however the program ends. Child processes count from zero, and do not know their parent's
 * blocks: the memory that this library keeps them in is empty after a fork.
 *
 * With PLAIN it defines the same code under other names, so that a program that is not counted has the same environment
 * and nearly the same layout in memory as one that is. With WIPED it counts the same and leaves other words on the stack: a
 * program whose figures are others then takes such words for pointers, as conservative garbage collectors do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef PLAIN
#define INTERFACE(name) plain_##name
#else
#define INTERFACE(name) name
#endif
#define EXPORT __attribute__((visibility("default")))

/* tests/programs/counted.py reads these. */
#define SLOTS_MAX 4096
struct slot {
	uint64_t pid; /* 0 = free */
	uint64_t calls;
	uint64_t alloc_bytes, alloc_objects, free_bytes, free_objects;
	uint64_t unknown; /* frees of blocks that are not known */
	uint64_t reused; /* blocks at the address of one that was not freed */
	uint64_t forked; /* it is a child that has not executed a program */
	char name[64];
};

struct account {
	uint64_t slots_used;
	uint64_t reserved[15];
	struct slot slots[SLOTS_MAX];
};

/*
 * Sizes of blocks, plus one, by address: a tree of two levels over the 47 bits that programs have, with a word for every
 * eight bytes. It lies where neither the kernel nor allocators put anything, so that addresses of the program stay the same.
 */
#define LEAF_SHIFT 24
#define LEAF_WORDS (1UL << (LEAF_SHIFT - 3))
#define LEAVES (1UL << (47 - LEAF_SHIFT))
#define BASE 0x200000000000UL
#define ACCOUNT_AT ((void *)(BASE - (1UL << 30)))

/* Empty in a child process. */
struct memory {
	struct slot *slot;
	struct slot *borrower; /* the last child that used its parent's memory, as vfork() has it */
	uint64_t leaves_used;
	uint64_t *leaves[LEAVES];
};
static struct memory *const memory = (struct memory *)BASE;
#define LEAVES_AT (BASE + (1UL << 32))

static struct account *account;
static bool has_counted; /* a child of fork has its parent's */
static void *(*real_malloc)(size_t size);
static void *(*real_calloc)(size_t count, size_t size);
static void *(*real_realloc)(void *old, size_t size);
static void (*real_free)(void *block);
static int (*real_posix_memalign)(void **block, size_t alignment, size_t size);
static void *(*real_aligned_alloc)(size_t alignment, size_t size);
static void *(*real_memalign)(size_t alignment, size_t size);
static void *(*real_valloc)(size_t size);
static void *(*real_pvalloc)(size_t size);

static void fail(const char *what)
{
	ssize_t written = write(2, what, strlen(what));

	(void)written;
	_exit(99);
}

static void map_private(void *address, size_t size)
{
	void *made = mmap(address, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (made != address || madvise(address, size, MADV_WIPEONFORK))
		fail("counter: no memory\n");
}

static void map_account(void)
{
	const char *path = getenv("COUNTER_FILE");
	int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (file < 0)
		fail("counter: cannot open COUNTER_FILE\n");
	account = mmap(ACCOUNT_AT, sizeof(*account), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
	if (account != ACCOUNT_AT)
		fail("counter: cannot map COUNTER_FILE\n");
	close(file);
}

/* Runs in the first call, or before: it is made by a constructor of some library, while there is one thread. */
__attribute__((constructor)) static void start(void)
{
	static bool is_starting;

	if (account)
		return;
	if (is_starting)
		fail("counter: called while it starts\n");
	is_starting = true;
	real_malloc = dlsym(RTLD_NEXT, "malloc");
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_free = dlsym(RTLD_NEXT, "free");
	real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	real_memalign = dlsym(RTLD_NEXT, "memalign");
	real_valloc = dlsym(RTLD_NEXT, "valloc");
	real_pvalloc = dlsym(RTLD_NEXT, "pvalloc");
	map_private(memory, sizeof(*memory));
	map_account();
}

/* Below the frames of calls that have returned. */
#ifdef WIPED
__attribute__((noinline)) static void wipe_stack(void)
{
	uint64_t words[1024];

	memset(words, 0, sizeof(words));
	__asm__ volatile("" : : "r"(words) : "memory");
}
#else
static void wipe_stack(void)
{
}
#endif

static void add(uint64_t *counter, uint64_t value)
{
	__atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

static struct slot *slot_claim(void)
{
	uint64_t index = __atomic_fetch_add(&account->slots_used, 1, __ATOMIC_RELAXED);
	struct slot *slot;

	if (index >= SLOTS_MAX)
		fail("counter: too many programs\n");
	slot = &account->slots[index];
	strncpy(slot->name, program_invocation_short_name, sizeof(slot->name) - 1);
	slot->pid = (uint64_t)getpid();
	slot->forked = has_counted;
	has_counted = true;
	return slot;
}

/* Where the running program counts. */
static struct slot *slot_find(void)
{
	uint64_t pid;

	start();
	wipe_stack();
	pid = (uint64_t)getpid();
	if (!memory->slot)
		memory->slot = slot_claim();
	if (memory->slot->pid == pid)
		return memory->slot;
	if (!memory->borrower || memory->borrower->pid != pid)
		memory->borrower = slot_claim();
	return memory->borrower;
}

static uint64_t *leaf_make(uint64_t **leaf)
{
	uint64_t size = LEAF_WORDS * sizeof(uint64_t);
	uint64_t number = __atomic_fetch_add(&memory->leaves_used, 1, __ATOMIC_RELAXED);
	uint64_t *made = (uint64_t *)(LEAVES_AT + number * size), *other = NULL;

	/* A child's numbers begin at 0 again, and its leaves are there, but empty. */
	if (madvise(made, size, MADV_WIPEONFORK))
		map_private(made, size);
	if (__atomic_compare_exchange_n(leaf, &other, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	return other;
}

static uint64_t *word_of(const void *block)
{
	uint64_t address = (uint64_t)block;
	uint64_t **leaf = &memory->leaves[address >> LEAF_SHIFT];
	uint64_t *words;

	if (address >> 47)
		fail("counter: a block is above 47 bits\n");
	words = __atomic_load_n(leaf, __ATOMIC_ACQUIRE);
	if (!words)
		words = leaf_make(leaf);
	return &words[(address >> 3) & (LEAF_WORDS - 1)];
}

static void count_free(struct slot *slot, uint64_t word)
{
	if (!word) {
		add(&slot->unknown, 1);
		return;
	}
	add(&slot->free_bytes, word - 1);
	add(&slot->free_objects, 1);
}

static uint64_t take(const void *block)
{
	return block ? __atomic_exchange_n(word_of(block), 0, __ATOMIC_ACQ_REL) : 0;
}

/* Count a call that has returned `block`, and hand that on. */
static void *give(struct slot *slot, void *block, uint64_t size)
{
	uint64_t word;

	add(&slot->calls, 1);
	if (!block)
		return NULL;
	word = __atomic_exchange_n(word_of(block), size + 1, __ATOMIC_ACQ_REL);
	if (word) {
		add(&slot->reused, 1);
		count_free(slot, word);
	}
	add(&slot->alloc_bytes, size);
	add(&slot->alloc_objects, 1);
	return block;
}

/* Taken before the call, because another thread may have the address before it returns. */
static void *resize(void *old, size_t size)
{
	struct slot *slot = slot_find();
	uint64_t word = take(old);
	void *block = real_realloc(old, size);

	if (old && (block || !size))
		count_free(slot, word);
	else if (old)
		*word_of(old) = word;
	return give(slot, block, size);
}

EXPORT void *INTERFACE(malloc)(size_t size)
{
	struct slot *slot = slot_find();

	return give(slot, real_malloc(size), size);
}

EXPORT void *INTERFACE(calloc)(size_t count, size_t size)
{
	struct slot *slot = slot_find();

	return give(slot, real_calloc(count, size), count * size);
}

EXPORT void *INTERFACE(realloc)(void *old, size_t size)
{
	return resize(old, size);
}

EXPORT void *INTERFACE(reallocarray)(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(old, bytes);
}

EXPORT void INTERFACE(free)(void *block)
{
	struct slot *slot = slot_find();

	add(&slot->calls, 1);
	if (block)
		count_free(slot, take(block));
	real_free(block);
}

EXPORT int INTERFACE(posix_memalign)(void **block, size_t alignment, size_t size)
{
	struct slot *slot = slot_find();
	int error = real_posix_memalign(block, alignment, size);

	give(slot, error ? NULL : *block, size);
	return error;
}

EXPORT void *INTERFACE(aligned_alloc)(size_t alignment, size_t size)
{
	struct slot *slot = slot_find();

	return give(slot, real_aligned_alloc(alignment, size), size);
}

EXPORT void *INTERFACE(memalign)(size_t alignment, size_t size)
{
	struct slot *slot = slot_find();

	return give(slot, real_memalign(alignment, size), size);
}

EXPORT void *INTERFACE(valloc)(size_t size)
{
	struct slot *slot = slot_find();

	return give(slot, real_valloc(size), size);
}

EXPORT void *INTERFACE(pvalloc)(size_t size)
{
	struct slot *slot = slot_find();

	return give(slot, real_pvalloc(size), size);
}
