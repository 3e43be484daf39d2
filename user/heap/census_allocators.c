/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of allocators; a new one is a row. */
#include "heap/census.h"

const struct heap_allocator *const census_allocators[] = {
	&heap_jemalloc, &heap_tcmalloc, &heap_mimalloc, &heap_musl, &heap_glibc, NULL,
};
