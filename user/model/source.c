/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See source.h. */
#include "model/source.h"

const char *source_name(enum memory_source source)
{
	static const char *const names[SOURCE_COUNT] = {
		[SOURCE_HEAP] = "heap",	      [SOURCE_MMAP] = "mmap",
		[SOURCE_KMALLOC] = "kmalloc", [SOURCE_KMEM_CACHE] = "kmem_cache",
		[SOURCE_PAGES] = "pages",     [SOURCE_PERCPU] = "percpu",
	};

	return source < SOURCE_COUNT ? names[source] : "unknown";
}
