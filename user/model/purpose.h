/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Purposes of a process's memory. */
#ifndef MODEL_PURPOSE_H
#define MODEL_PURPOSE_H

#include <stdint.h>

/* X(symbol, name in JSON, title) in the order of claims; titles are for the table of a report. */
#define PURPOSE_LIST(X)                                                \
	X(STACK, stack, "stack of the main thread")                    \
	X(THREAD_STACK, thread_stack, "thread stacks")                 \
	X(CACHED_STACK, cached_stack, "thread stacks, kept for reuse") \
	X(ENDED_STACK, ended_stack, "stacks of threads never joined")  \
	X(MALLOC_MAIN, malloc_main, "malloc: main heap")               \
	X(MALLOC_ARENA, malloc_arena, "malloc: arenas")                \
	X(MALLOC_LARGE, malloc_large, "malloc: mapped blocks")         \
	X(RUBY_HEAP, ruby_heap, "Ruby object pages")                   \
	X(RUBY_TRANSIENT, ruby_transient, "Ruby transient heap")       \
	X(PYTHON_ARENA, python_arena, "Python object arenas")          \
	X(PHP_HEAP, php_heap, "PHP heap")                              \
	X(JAVA_HEAP, java_heap, "Java heap")                           \
	X(JAVA_CODE, java_code, "Java code cache")                     \
	X(JAVA_CLASS, java_class, "Java classes")                      \
	X(V8_HEAP, v8_heap, "V8 heap")                                 \
	X(GO_HEAP, go_heap, "Go heap")                                 \
	X(JIT, jit, "generated code")                                  \
	X(CODE, code, "code")                                          \
	X(CONSTANTS, constants, "constants")                           \
	X(DATA, data, "data")                                          \
	X(BSS, bss, "bss")                                             \
	X(FILE, file, "files mapped")                                  \
	X(SHARED, shared, "shared memory")                             \
	X(MEMFD, memfd, "memfd")                                       \
	X(TMPFS, tmpfs, "files in memory (tmpfs)")                     \
	X(DEVICE, device, "devices")                                   \
	X(HUGETLB, hugetlb, "huge pages (hugetlbfs)")                  \
	X(KERNEL, kernel, "vdso and vvar")                             \
	X(UNKNOWN, unknown, "anonymous, unknown")

enum purpose {
#define PURPOSE_ENUMERATOR(SYMBOL, name, title) PURPOSE_##SYMBOL,
	PURPOSE_LIST(PURPOSE_ENUMERATOR)
#undef PURPOSE_ENUMERATOR
		PURPOSE_COUNT,
};

/* Bytes. */
struct purpose_sum {
	uint64_t rss, pss, swap, mapped;
	uint64_t count; /* distinct details of claims; for unclaimed memory, mappings */
};

const char *purpose_name(enum purpose purpose); /* "thread_stack" */
const char *purpose_title(enum purpose purpose); /* "thread stacks" */

void purpose_sum_add(struct purpose_sum *sum, const struct purpose_sum *other);

#endif
