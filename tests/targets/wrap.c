/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrappers of the C library's functions, to be preloaded, which count calls as many tools do. They jump to the function that
 * they wrap (WRAP_JUMP, with calls of siblings optimized), call it, or call it by way of a function of their own (WRAP_DEEP).
 */
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

/* Not constant, so that they are called through pointers. */
void *(*volatile wrap_malloc)(size_t) = __libc_malloc;
void *(*volatile wrap_calloc)(size_t, size_t) = __libc_calloc;
void *(*volatile wrap_realloc)(void *, size_t) = __libc_realloc;
void (*volatile wrap_free)(void *) = __libc_free;
static unsigned long calls;

#ifdef WRAP_DEEP
#define OWN __attribute__((noinline, noclone)) static
#else
#define OWN static inline __attribute__((always_inline))
#endif

#ifdef WRAP_JUMP
#define AFTER
#else
#define AFTER __asm__ volatile("" ::: "memory")
#endif

OWN void own_free(void *block)
{
	calls++;
	wrap_free(block);
	AFTER;
}

OWN void *own_malloc(size_t size)
{
	void *block = wrap_malloc(size);

	AFTER;
	return block;
}

void *malloc(size_t size)
{
	void *block = own_malloc(size);

	AFTER;
	return block;
}

void *calloc(size_t count, size_t size)
{
	void *block = wrap_calloc(count, size);

	AFTER;
	return block;
}

void *realloc(void *block, size_t size)
{
	block = wrap_realloc(block, size);
	AFTER;
	return block;
}

void free(void *block)
{
	own_free(block);
	AFTER;
}
