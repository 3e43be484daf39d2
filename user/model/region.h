/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions: memory that no line of the program requested by itself. An interpreter's heap grows at
 * whichever line happens to need the next page.
 */
#ifndef MODEL_REGION_H
#define MODEL_REGION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(symbol, name in JSON, title, singular, plural, line matters). If the line does not matter, all
 * blocks of a process form one row without a stack.
 */
#define REGION_LIST(X)                                                            \
	X(RUBY_HEAP, ruby_heap, "Ruby heap pages", "page", "pages", false)        \
	X(PYTHON_ARENA, python_arena, "CPython arenas", "arena", "arenas", false) \
	X(PHP_HEAP, php_heap, "PHP heap chunks", "chunk", "chunks", false)        \
	X(V8_HEAP, v8_heap, "V8 heap pages", "page", "pages", false)              \
	X(JIT, jit, "JIT code", "mapping", "mappings", false)                     \
	X(THREAD_STACK, thread_stack, "thread stacks", "thread stack", "thread stacks", true)

enum region {
	REGION_NONE = 0, /* an ordinary site, or undecided */
#define REGION_ENUMERATOR(SYMBOL, name, title, one, several, line) REGION_##SYMBOL,
	REGION_LIST(REGION_ENUMERATOR)
#undef REGION_ENUMERATOR
		REGION_COUNT,
};

/* "ruby_heap"; NULL for REGION_NONE, here and below. */
const char *region_name(enum region region);
/* "Ruby heap pages" */
const char *region_title(enum region region);
/* What `count` blocks are called: "page", "pages" */
const char *region_unit(enum region region, uint64_t count);
/* Are its sites attributed to lines, like ordinary sites? */
bool region_has_line(enum region region);

#endif
