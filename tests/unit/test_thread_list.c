/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of threads, made up, damaged, and of a child with threads of all kinds. Truth: what the test has made. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/thread_list.h"
#include "unit/fake_image.h"

#define LIBC 0x400000ull
#define USED (LIBC + 0x2100)
#define USER (USED + 16)
#define CACHE (USED + 32)
#define MAIN 0x700740ull
#define STACKS 0x10000000ull
#define STACK_SIZE 0x10000ull
#define PID 4711

static struct fake_image *fake;
static struct thread_list list;

/* With .bss behind a page of data. */
static void put_module(uint64_t base, const char *name, uint64_t bss)
{
	const Elf64_Phdr segments[] = {
		{ PT_LOAD, PF_R | PF_X, 0, 0, 0, 0x1800, 0x1800, 0x1000 },
		{ PT_LOAD, PF_R | PF_W, 0x2000, 0x2000, 0x2000, 0x1000, 0x1000 + bss, 0x1000 },
	};
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_phoff = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};

	fake_image_map(fake, base, 0x2000, name, FAKE_FILE | FAKE_EXECUTABLE);
	fake_image_map(fake, base + 0x2000, 0x1000, name, FAKE_FILE | FAKE_WRITABLE)->file_offset =
		0x2000;
	fake_image_map(fake, base + 0x3000, bss, "", FAKE_WRITABLE);
	fake_image_put(fake, base, &head, sizeof(head));
	fake_image_put(fake, base + sizeof(head), segments, sizeof(segments));
}

/* An entry between two others, or heads. */
static void link_entry(uint64_t previous, uint64_t entry, uint64_t next)
{
	fake_image_put_word(fake, previous, entry);
	fake_image_put_word(fake, entry + 8, previous);
	fake_image_put_word(fake, entry, next);
	fake_image_put_word(fake, next + 8, entry);
}

static void put_descriptor(uint64_t address, int tid)
{
	fake_image_put_word(fake, address, address);
	fake_image_put_word(fake, address + 16, address);
	fake_image_put(fake, address + 720, &tid, sizeof(tid));
}

/* The descriptor on a stack of its own. */
static uint64_t put_stack(unsigned int number, int tid)
{
	uint64_t start = STACKS + number * 0x20000ull, address = start + STACK_SIZE - 0x900;

	fake_image_map(fake, start, STACK_SIZE, "", FAKE_WRITABLE);
	put_descriptor(address, tid);
	fake_image_put_word(fake, address + 1680, start);
	fake_image_put_word(fake, address + 1688, STACK_SIZE);
	fake_image_put_word(fake, address + 1696, 0x1000);
	return address;
}

/* Two threads run, one has ended, one stack is cached. */
static int set_up(void **state)
{
	uint64_t running, ended, cached;

	(void)state;
	fake = fake_image_new();
	fake->image->own_pid = PID;
	put_module(LIBC, "/lib/ld-linux-x86-64.so.2", 0x2000);
	fake_image_map(fake, 0x700000, 0x2000, "", FAKE_WRITABLE);
	put_descriptor(MAIN, PID);
	link_entry(USER, MAIN + 704, USER);
	running = put_stack(0, PID + 1);
	ended = put_stack(1, 0);
	cached = put_stack(2, -1);
	link_entry(USED, running + 704, USED);
	link_entry(running + 704, ended + 704, USED);
	link_entry(CACHE, cached + 704, CACHE);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	thread_list_free(&list);
	fake_image_free(fake);
	return 0;
}

static void find(void)
{
	thread_list_free(&list);
	thread_list_find(fake_image_open(fake), &list);
}

static size_t count(enum thread_state state)
{
	size_t i, found = 0;

	for (i = 0; i < list.count; i++)
		found += list.items[i].state == state;
	return found;
}

static void test_states(void **state)
{
	(void)state;
	find();
	assert_true(list.complete);
	assert_int_equal(list.count, 4);
	assert_int_equal(list.items[0].tid, PID);
	assert_int_equal(list.items[0].descriptor, MAIN);
	assert_int_equal(list.items[0].stack_start, 0);
	assert_int_equal(list.items[0].tls_start, 0x700000);
	assert_int_equal(list.items[1].tid, PID + 1);
	assert_int_equal(list.items[1].stack_start, STACKS);
	assert_int_equal(list.items[1].stack_end, STACKS + STACK_SIZE);
	assert_int_equal(list.items[1].guard, 0x1000);
	assert_int_equal(list.items[2].state, THREAD_ENDED);
	assert_int_equal(list.items[2].stack_start, STACKS + 0x20000);
	assert_int_equal(list.items[3].state, THREAD_CACHED);
	assert_int_equal(list.items[3].tid, 0);
}

/* A process with one thread: other lists are empty. */
static void test_alone(void **state)
{
	(void)state;
	link_entry(USED, USED, USED);
	link_entry(CACHE, CACHE, CACHE);
	find();
	assert_true(list.complete);
	assert_int_equal(list.count, 1);
	/* All threads have ended. */
	link_entry(USED, STACKS + 0x20000 + STACK_SIZE - 0x900 + 704, USED);
	find();
	assert_true(list.complete);
	assert_int_equal(count(THREAD_ENDED), 1);
}

/* A thread that is newer than the mappings: it is not known, and all others are. */
static void test_newer(void **state)
{
	const uint64_t newer = 0x20000000ull + STACK_SIZE - 0x900 + 704;
	const uint64_t running = STACKS + STACK_SIZE - 0x900 + 704;

	(void)state;
	fake_image_put_word(fake, USED, newer);
	fake_image_put_word(fake, running + 8, newer);
	find();
	assert_false(list.complete);
	assert_int_equal(list.count, 4);
	assert_int_equal(count(THREAD_ENDED), 1);
	assert_int_equal(count(THREAD_CACHED), 1);
	/* In the middle: an entry on each side of it, once. */
	fake_image_put_word(fake, running, newer);
	fake_image_put_word(fake, USED, running);
	fake_image_put_word(fake, running + 8, USED);
	find();
	assert_false(list.complete);
	assert_int_equal(list.count, 4);
	assert_int_equal(count(THREAD_ENDED), 1);
}

/* The process was forked by a thread: that is the only one now, and it has a stack. */
static void test_forked(void **state)
{
	(void)state;
	fake->image->own_pid = PID + 1;
	link_entry(USED, STACKS + STACK_SIZE - 0x900 + 704, USED);
	link_entry(USER, USER, USER);
	find();
	assert_true(list.complete);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0].tid, PID + 1);
	assert_int_equal(count(THREAD_CACHED), 1);
}

/* Lists that lead elsewhere, in circles, or nowhere. */
static void test_damaged(void **state)
{
	uint64_t running = STACKS + STACK_SIZE - 0x900 + 704;

	(void)state;
	/* A circle without the head; the head's own links are whole. */
	fake_image_put_word(fake, STACKS + 0x20000 + STACK_SIZE - 0x900 + 704, running);
	find();
	assert_false(list.complete);
	assert_in_range(list.count, 1, 4);
	fake_image_put_word(fake, running, 0);
	find();
	assert_false(list.complete);
	fake_image_put_word(fake, running, running);
	find();
	assert_false(list.complete);
	fake_image_put_word(fake, MAIN, 1);
	find();
	assert_false(list.complete);
	assert_int_equal(list.count, 0);
}

/* Each word of the lists changed: never too many threads, never a crash. */
static void test_damaged_words(void **state)
{
	static const uint64_t places[] = { USED,       USER,
					   CACHE,      MAIN,
					   MAIN + 16,  MAIN + 704,
					   MAIN + 720, STACKS + STACK_SIZE - 0x900 + 704 };
	static const uint64_t words[] = { 0, 8, USED, USER, MAIN + 704, UINT64_MAX, 0xffffff40 };
	uint64_t before;
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (j = 0; j < 2 * sizeof(words) / sizeof(words[0]); j++) {
			before = image_word(fake_image_open(fake), places[i] + j % 2 * 8);
			fake_image_put_word(fake, places[i] + j % 2 * 8, words[j / 2]);
			find();
			assert_in_range(list.count, 0, 8);
			fake_image_put_word(fake, places[i] + j % 2 * 8, before);
		}
	find();
	assert_true(list.complete);
}

/* Data full of words that could be entries: looked at in bounded time. */
static void test_many_candidates(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 0x1000; i += 8)
		fake_image_put_word(fake, LIBC + 0x3000 + i, MAIN + 704);
	fake->reads = 0;
	find();
	assert_true(list.complete);
	assert_in_range(fake->reads, 0, 3000);
}

/* A static program with 51 MB of .bss, most of which nobody has used: its lists are behind that. */
static void test_static(void **state)
{
	const uint64_t program = 0x40000000, bss = 51ull << 20, user = program + bss - 0x100;

	(void)state;
	link_entry(USED, USED, USED);
	link_entry(CACHE, CACHE, CACHE);
	fake_image_put_word(fake, USER, 0);
	put_module(program, "/usr/bin/program", bss);
	fake_image_absent(fake, program + 0x5000, bss - 0x8000);
	link_entry(user, MAIN + 704, user);
	link_entry(user - 16, STACKS + STACK_SIZE - 0x900 + 704, user - 16);
	fake->reads = 0;
	find();
	assert_true(list.complete);
	assert_int_equal(list.count, 2);
	assert_in_range(fake->reads, 0, 100);
}

static void test_musl(void **state)
{
	uint64_t main = LIBC + 0x4000, other = STACKS + 0x8000;
	const int tids[] = { PID, PID + 1 };
	size_t i;

	(void)state;
	fake_image_put_word(fake, MAIN, 0);
	for (i = 0; i < 2; i++) {
		uint64_t at = i ? other : main;

		fake_image_put_word(fake, at, at);
		fake_image_put_word(fake, at + 16, i ? main : other);
		fake_image_put_word(fake, at + 24, i ? main : other);
		fake_image_put(fake, at + 48, &tids[i], sizeof(tids[i]));
	}
	fake_image_put_word(fake, other + 72, STACKS);
	fake_image_put_word(fake, other + 80, STACK_SIZE);
	find();
	assert_true(list.complete);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[0].tid, PID);
	assert_int_equal(list.items[1].stack_end, STACKS + STACK_SIZE);
	fake_image_put_word(fake, other + 24, other);
	find();
	assert_false(list.complete);
	assert_int_equal(list.count, 0);
}

#define RUNNING 100
#define ENDED 200
#define JOINED 10

static void *thread_waits(void *context)
{
	(void)context;
	return pause() ? NULL : context;
}

static void *thread_ends(void *context)
{
	return context;
}

/* In the child. */
static void make_threads(int ready)
{
	static pthread_t joined[JOINED];
	pthread_attr_t attributes;
	pthread_t thread;
	size_t i;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	for (i = 0; i < JOINED; i++)
		pthread_create(&joined[i], &attributes, thread_waits, NULL);
	for (i = 0; i < ENDED; i++)
		pthread_create(&thread, &attributes, thread_ends, NULL);
	for (i = 0; i < RUNNING; i++)
		pthread_create(&thread, &attributes, thread_waits, NULL);
	for (i = 0; i < JOINED; i++)
		pthread_cancel(joined[i]);
	for (i = 0; i < JOINED; i++)
		pthread_join(joined[i], NULL);
	if (write(ready, "x", 1) == 1)
		pause();
	_exit(0);
}

static void test_live(void **state)
{
	struct image *image;
	int ready[2], i;
	size_t each;
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		make_threads(ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_int_equal(image_open(pid, 0, &image, NULL), 0);
	/* The last ones may still be ending. */
	for (i = 0; i < 600 && count(THREAD_ENDED) != ENDED; i++) {
		thread_list_free(&list);
		thread_list_find(image, &list);
		usleep(i ? 100000 : 0);
	}
	assert_true(list.complete);
	assert_int_equal(list.items[0].tid, pid);
	assert_int_equal(count(THREAD_RUNS), RUNNING + 1);
	assert_int_equal(count(THREAD_ENDED), ENDED);
	assert_int_equal(count(THREAD_CACHED), JOINED);
	for (each = 1; each < list.count; each++) {
		assert_true(list.items[each].stack_end - list.items[each].stack_start >=
			    256 * 1024);
		assert_true(list.items[each].tls_start < list.items[each].descriptor);
	}
	image_free(image);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_states),
		TEST(test_alone),
		TEST(test_forked),
		TEST(test_newer),
		TEST(test_damaged),
		TEST(test_damaged_words),
		TEST(test_many_candidates),
		TEST(test_static),
		TEST(test_musl),
		TEST(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
