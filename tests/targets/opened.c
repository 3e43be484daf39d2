/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An allocator that is opened at run time and used at once: `opened LIBRARY [wait]`. */
#include <dlfcn.h>

#include "truth.h"

#define BLOCKS 1000

static void *(*opened_malloc)(size_t size);
static void (*opened_free)(void *block);

SITE static void *site_opened(size_t size)
{
	void *block = opened_malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

int main(int argc, char **argv)
{
	void *library;
	size_t i;

	truth_begin(argc > 2 ? argv[2] : NULL);
	library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		fprintf(stderr, "opened: %s\n", dlerror());
		return 2;
	}
	*(void **)&opened_malloc = dlsym(library, "malloc");
	*(void **)&opened_free = dlsym(library, "free");
	for (i = 1; i <= BLOCKS; i++) {
		void *block = site_opened(i);

		if (i % 3 == 0) {
			opened_free(block);
			truth_free("site_opened", i);
		}
	}
	truth_end();
	return 0;
}
