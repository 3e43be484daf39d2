// SPDX-License-Identifier: GPL-2.0-or-later
// What a new_handler allocates and frees counts: it is the program's, though the allocator calls it. By a program that keeps
// its own account: `handlers [wait]`.
#include <cstddef>
#include <cstdlib>
#include <new>

extern "C" {
#include "truth.h"

SITE static void *site_in_handler(std::size_t size)
{
	void *block = std::malloc(size);

	HIDE(block);
	truth_alloc("site_in_handler", size);
	return block;
}

SITE static void *site_after(std::size_t size)
{
	void *block = ::operator new(size);

	HIDE(block);
	truth_alloc("site_after", size);
	return block;
}
}

static void on_no_memory()
{
	int i;

	for (i = 0; i < 3; i++)
		site_in_handler(100 + static_cast<std::size_t>(i));
	std::free(site_in_handler(500));
	truth_free("site_in_handler", 500);
	throw std::bad_alloc();
}

int main(int argc, char **argv)
{
	std::size_t huge = static_cast<std::size_t>(1) << 62;
	int i;

	HIDE(huge);
	std::set_new_handler(on_no_memory);
	truth_begin(argc > 1 ? argv[1] : nullptr);
	for (i = 0; i < 100; i++) {
		try {
			void *block = ::operator new(huge);

			HIDE(block);
			std::abort();
		} catch (const std::bad_alloc &) {
		}
		::operator delete(site_after(9));
		truth_free("site_after", 9);
	}
	truth_end();
	return 0;
}
