/* SPDX-License-Identifier: GPL-2.0-or-later */
/* musl's threads: a ring of descriptors, that of the main thread mostly in the data of the library. */
#include "image/thread_list_private.h"

#include "image/image_search.h"

/* struct pthread of x86-64, musl 1.2. */
struct musl_thread {
	uint64_t self, dtv, previous, next, sysinfo, canary;
	int32_t tid, error;
	int32_t detach_state, cancel;
	uint64_t flags;
	uint64_t map_start, map_size;
	uint64_t stack, stack_size, guard;
};

#define THREADS_MAX (4u << 20)
#define TRIES_MAX 1000

static bool musl_read(struct image *image, uint64_t address, struct musl_thread *ret_thread)
{
	return !(address & 7) && image_read(image, address, ret_thread, sizeof(*ret_thread)) &&
	       ret_thread->self == address;
}

static struct thread_info musl_info(const struct image *image, const struct musl_thread *thread)
{
	struct thread_info info = { .tid = thread->tid, .descriptor = thread->self };

	if (thread->map_start && thread->map_size < INT64_MAX &&
	    !((thread->map_start | thread->map_size) & (image->page_size - 1)) &&
	    thread->self > thread->map_start &&
	    thread->self - thread->map_start < thread->map_size) {
		info.stack_start = thread->map_start;
		info.stack_end = thread->map_start + thread->map_size;
		info.guard = thread->guard;
	}
	return info;
}

/* Follow the ring. False if it is none; then nothing was added. */
static bool musl_walk(struct image *image, uint64_t first, struct thread_list *list)
{
	struct musl_thread thread;
	struct thread_info info;
	uint64_t at = first, previous = 0;

	list->count = 0;
	do {
		if (list->count >= THREADS_MAX || !musl_read(image, at, &thread) ||
		    (previous && thread.previous != previous) || thread.tid < 0) {
			list->count = 0;
			return false;
		}
		info = musl_info(image, &thread);
		thread_list_add(list, &info);
		previous = at;
		at = thread.next;
	} while (at != first);
	return true;
}

/* Is it the main thread's? */
static bool musl_is_main(struct image *image, uint64_t address)
{
	struct musl_thread thread, next;

	return musl_read(image, address, &thread) && thread.tid == image->own_pid &&
	       musl_read(image, thread.next, &next) && next.previous == address;
}

struct musl_search {
	struct image *image;
	struct thread_list *list;
	unsigned int tries; /* in one range of data */
};

static bool musl_search_word(void *context, uint64_t address, uint64_t word)
{
	struct musl_search *search = context;

	if (word != address)
		return true;
	if (musl_is_main(search->image, address))
		search->list->complete = musl_walk(search->image, address, search->list);
	return !search->list->complete && ++search->tries < TRIES_MAX;
}

void thread_list_find_musl(struct image *image, const struct module_ranges *modules,
			   struct thread_list *list)
{
	struct musl_search search = { .image = image, .list = list };
	uint64_t left = THREADS_DATA_MAX;
	size_t i;

	for (i = 0; i < modules->count && !list->complete; i++) {
		const struct heap_range data = { modules->items[i].start, modules->items[i].end };

		search.tries = 0;
		if (module_range_is_writable(&modules->items[i]))
			image_search_within(image, &data, &left, musl_search_word, &search);
	}
}
