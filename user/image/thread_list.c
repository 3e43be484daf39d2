/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glibc's lists of threads, by their shape: a head (next, previous) in writable data of a module, to which the first and the last
 * entry lead back, and entries that lie in descriptors which begin with their own address. glibc has three, side by side since
 * 2.34: of threads whose stacks it has allocated; of those with a stack from elsewhere, among them the main thread; and of
 * stacks that it keeps for the next thread. See thread_list.h.
 */
#include "image/thread_list.h"

#include <string.h>

#include "image/image_search.h"
#include "image/module_ranges.h"
#include "image/thread_list_private.h"

/* struct pthread of x86-64: glibc 2.27 to 2.43. */
#define DESCRIPTOR_LINKS 704
#define DESCRIPTOR_TID 720
#define DESCRIPTOR_SELF 16
#define DESCRIPTOR_ALIGN 64
#define DESCRIPTOR_BYTES 2560 /* what is read of one */
#define DESCRIPTOR_STACK 1552 /* the stack is described behind this */

/* The kernel has at most so many threads. */
#define THREADS_MAX (4u << 20)

/* What may be read to find the lists: each is a word that could be the address of an entry. */
#define TRIES_MAX 100000

/* While threads come and go. */
#define ATTEMPTS 3

/* Before the static TLS of a thread there is its stack. */
#define TLS_MAX 65536
#define TLS_LIKELY 8192

/* The heads of lists; 0 = not found. `idle`: one without a running thread. */
struct heads {
	uint64_t used, user, cache, idle;
};

struct search {
	struct image *image;
	const struct module_ranges *modules;
	uint64_t tries, left; /* left: bytes of data that may be read */
	uint64_t last, last_word; /* the word before, and where it is */
	bool found; /* the first thread */
	struct heads heads;
};

static uint64_t descriptor_word(const unsigned char *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Page-aligned start, size and guard of a stack that holds the descriptor: three words that follow each other. */
static bool descriptor_find_stack(const struct image *image, const unsigned char *bytes,
				  size_t size, struct thread_info *thread)
{
	uint64_t start, length, guard, mask = image->page_size - 1;
	size_t at;

	for (at = DESCRIPTOR_STACK; at + 24 <= size; at += 8) {
		start = descriptor_word(bytes, at);
		length = descriptor_word(bytes, at + 8);
		guard = descriptor_word(bytes, at + 16);
		if (!start || (start | length | guard) & mask || length > INT64_MAX ||
		    guard >= length || thread->descriptor <= start ||
		    thread->descriptor - start >= length)
			continue;
		thread->stack_start = start;
		thread->stack_end = start + length;
		thread->guard = guard;
		return true;
	}
	return false;
}

/* Which of an entry's links leads on: that to the next one, or to the one before it. */
enum direction { FORWARD, BACKWARD };

/* The descriptor with these links, come to from `previous`. Returns the address of the entry behind it, 0 if it is no descriptor. */
static uint64_t descriptor_read(struct image *image, uint64_t links, uint64_t previous,
				enum direction direction, struct thread_info *ret_thread)
{
	const size_t back = direction == FORWARD ? 8 : 0, on = 8 - back;

	unsigned char bytes[DESCRIPTOR_BYTES];
	uint64_t address = links - DESCRIPTOR_LINKS;
	int32_t tid;
	size_t size;

	if (links % DESCRIPTOR_ALIGN)
		return 0;
	size = image_read_part(image, address, bytes, sizeof(bytes));
	if (size < DESCRIPTOR_TID + sizeof(tid) || descriptor_word(bytes, 0) != address ||
	    descriptor_word(bytes, DESCRIPTOR_SELF) != address ||
	    descriptor_word(bytes, DESCRIPTOR_LINKS + back) != previous)
		return 0;
	memcpy(&tid, bytes + DESCRIPTOR_TID, sizeof(tid));
	*ret_thread = (struct thread_info){ .tid = tid > 0 ? tid : 0, .descriptor = address };
	descriptor_find_stack(image, bytes, size, ret_thread);
	return descriptor_word(bytes, DESCRIPTOR_LINKS + on);
}

/* Add a list's entries in this direction. Returns the address of one that is none; that of the head if there is none. */
static uint64_t threads_walk_in(struct image *image, uint64_t head, enum thread_state state,
				enum direction direction, struct thread_list *list)
{
	uint64_t previous = head, at = image_word(image, head + (direction == FORWARD ? 0 : 8));
	uint64_t next;
	struct thread_info thread;

	while (at != head) {
		next = list->count < THREADS_MAX
			       ? descriptor_read(image, at, previous, direction, &thread)
			       : 0;
		if (!next)
			return at;
		thread.state = state == THREAD_RUNS && !thread.tid ? THREAD_ENDED : state;
		if (state == THREAD_CACHED)
			thread.tid = 0;
		thread_list_add(list, &thread);
		previous = at;
		at = next;
	}
	return head;
}

/*
 * Add all of a list. True if it leads back to its head. New threads come behind the head: stacks of those that are newer than the
 * image's mappings cannot be read, and older threads are found from the other end.
 */
static bool threads_walk(struct image *image, uint64_t head, enum thread_state state,
			 struct thread_list *list)
{
	uint64_t at = threads_walk_in(image, head, state, FORWARD, list);

	if (at != head && !image_find(image, at))
		threads_walk_in(image, head, state, BACKWARD, list);
	return at == head;
}

/* Does a list that is not empty begin there? */
static bool head_is_list(struct search *search, uint64_t head, uint64_t next, uint64_t previous)
{
	struct thread_info thread;
	uint64_t links[2];

	if (!next || !previous || (next | previous) % DESCRIPTOR_ALIGN ||
	    !image_find(search->image, previous) || search->tries++ >= TRIES_MAX)
		return false;
	return image_read(search->image, previous, links, sizeof(links)) && links[0] == head &&
	       descriptor_read(search->image, previous, head, BACKWARD, &thread) &&
	       (!image_find(search->image, next) ||
		descriptor_read(search->image, next, head, FORWARD, &thread));
}

/* What kind of list is it? By the threads that are in it. */
static void search_see_list(struct search *search, uint64_t head)
{
	struct thread_list list = { 0 };
	bool running = false, main = false;
	size_t i;

	threads_walk(search->image, head, THREAD_RUNS, &list);
	for (i = 0; i < list.count; i++) {
		running |= list.items[i].tid != 0;
		main |= list.items[i].tid == search->image->own_pid && !list.items[i].stack_start;
		search->found |= list.items[i].tid == search->image->own_pid;
	}
	thread_list_free(&list);
	if (main)
		search->heads.user = head;
	else if (running)
		search->heads.used = head;
	else if (!search->heads.idle)
		search->heads.idle = head;
}

/* A head is two words that are not 0. */
static bool search_word(void *context, uint64_t address, uint64_t word)
{
	struct search *search = context;

	if (address == search->last + 8 &&
	    head_is_list(search, search->last, search->last_word, word))
		search_see_list(search, search->last);
	search->last = address;
	search->last_word = word;
	return true;
}

static void search_range(struct search *search, const struct module_range *range)
{
	const struct heap_range data = { range->start, range->end };

	search->last = 0;
	image_search_within(search->image, &data, &search->left, search_word, search);
}

static bool module_is_libc(const struct mapped_module *module)
{
	const char *name = strrchr(module->name, '/');

	name = name ? name + 1 : module->name;
	return !strncmp(name, "ld-", 3) || !strncmp(name, "ld.so", 5) ||
	       !strncmp(name, "ld64", 4) || !strncmp(name, "libpthread", 10) ||
	       !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5);
}

/* The C library's data first; all other data only if they are not there, as in a static program. */
static void search_modules(struct search *search, bool libc)
{
	size_t i;

	for (i = 0; i < search->modules->count; i++) {
		const struct module_range *range = &search->modules->items[i];

		if (module_range_is_writable(range) &&
		    module_is_libc(&search->modules->modules[range->module]) == libc)
			search_range(search, range);
	}
}

/* An empty list, or what could be one. */
static bool head_is_possible(struct image *image, uint64_t head)
{
	uint64_t links[2];

	if (!image_read(image, head, links, sizeof(links)))
		return false;
	return (links[0] == head && links[1] == head) ||
	       (links[0] && links[1] && !((links[0] | links[1]) % DESCRIPTOR_ALIGN));
}

static void search_place(struct search *search, uint64_t *head, uint64_t place)
{
	if (!*head && head_is_possible(search->image, place))
		*head = place;
}

/*
 * A list in which no thread runs is known by its place only: used, user, cache; in a static program it may be the other way round. Of
 * older releases, whose lists are apart, it is taken for the cache.
 */
static void search_place_others(struct search *search)
{
	struct heads *heads = &search->heads;
	uint64_t step = 16, idle = heads->idle;

	/* After a fork by another thread that is the first one: its stack was allocated. */
	if (!heads->user)
		search_place(search, &heads->user, heads->used + step);
	if (heads->user && heads->used)
		step = heads->user - heads->used;
	if (step == 16 || step == -16ull) {
		search_place(search, &heads->used, heads->user - step);
		search_place(search, &heads->cache, heads->user + step);
	}
	if (!heads->cache && idle != heads->used)
		heads->cache = idle;
}

/* Does it lead to an entry that leads back, though it was not found to be the head of a list? */
static bool head_is_torn(struct image *image, const struct heads *heads, uint64_t head)
{
	struct thread_info thread;
	uint64_t links[2];

	if (head == heads->user || head == heads->used || head == heads->cache ||
	    head == heads->idle || !image_read(image, head, links, sizeof(links)))
		return false;
	return descriptor_read(image, links[0], head, FORWARD, &thread) ||
	       descriptor_read(image, links[1], head, BACKWARD, &thread);
}

/* A list is missing beside one that was found. */
static bool heads_are_torn(struct image *image, const struct heads *heads)
{
	uint64_t known = heads->user ? heads->user : heads->used;

	return known &&
	       (head_is_torn(image, heads, known - 16) || head_is_torn(image, heads, known + 16));
}

/* The part below a descriptor that has the static TLS: glibc allocates that of the main thread alone, others lie on stacks. */
static void threads_find_tls(struct image *image, struct thread_list *list)
{
	const struct image_mapping *mapping;
	uint64_t size = TLS_LIKELY, below;
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct thread_info *thread = &list->items[i];

		mapping = image_find(image, thread->descriptor);
		below = mapping ? thread->descriptor - mapping->start : 0;
		if (!i && below < TLS_MAX)
			size = below;
		thread->tls_start = thread->descriptor - (below < size ? below : size);
	}
}

static void threads_begin_with_main(struct thread_list *list, pid_t own_pid)
{
	struct thread_info first;
	size_t i;

	for (i = 1; i < list->count && list->items[i].tid != own_pid; i++)
		;
	if (i >= list->count)
		return;
	first = list->items[0];
	list->items[0] = list->items[i];
	list->items[i] = first;
}

static bool threads_walk_all(struct image *image, const struct heads *heads,
			     struct thread_list *list)
{
	bool complete;

	list->count = 0;
	complete = !heads->user || threads_walk(image, heads->user, THREAD_RUNS, list);
	complete &= !heads->used || threads_walk(image, heads->used, THREAD_RUNS, list);
	complete &= !heads->cache || threads_walk(image, heads->cache, THREAD_CACHED, list);
	return complete;
}

/* A thread that is being made has no number for a moment. */
static void threads_look_again(struct image *image, struct thread_list *list)
{
	int32_t tid;
	size_t i;

	for (i = 0; i < list->count; i++) {
		struct thread_info *thread = &list->items[i];

		if (thread->state != THREAD_ENDED ||
		    !image_read(image, thread->descriptor + DESCRIPTOR_TID, &tid, sizeof(tid)) ||
		    tid <= 0)
			continue;
		thread->tid = tid;
		thread->state = THREAD_RUNS;
	}
}

static bool threads_find_glibc(struct image *image, const struct module_ranges *modules,
			       struct thread_list *list)
{
	struct search search = { .image = image, .modules = modules, .left = THREADS_DATA_MAX };
	int i;

	search_modules(&search, true);
	if (!search.found)
		search_modules(&search, false);
	if (!search.found)
		return false;
	search_place_others(&search);
	for (i = 0; i < ATTEMPTS && !list->complete; i++)
		list->complete = threads_walk_all(image, &search.heads, list) &&
				 !heads_are_torn(image, &search.heads);
	threads_look_again(image, list);
	return true;
}

void thread_list_find(struct image *image, struct thread_list *ret_list)
{
	struct module_ranges modules;

	*ret_list = (struct thread_list){ 0 };
	if (!image->own_pid)
		return;
	module_ranges_find(image, &modules);
	if (!threads_find_glibc(image, &modules, ret_list))
		thread_list_find_musl(image, &modules, ret_list);
	module_ranges_free(&modules);
	threads_begin_with_main(ret_list, image->own_pid);
	threads_find_tls(image, ret_list);
}
