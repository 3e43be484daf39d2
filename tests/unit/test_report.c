/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From snapshots to reports. Small cases have their figures worked out by hand; random snapshots are summed
 * and ranked again here by the plainest loops.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/frame_kind.h"
#include "model/loss.h"
#include "model/source.h"
#include "unit/sample.h"

static struct report *build(struct sample *sample, enum report_sort sort, size_t top,
			    uint64_t min_age_ns)
{
	struct report_options options = {
		.sort = sort, .top = top, .without_young = min_age_ns, .min_age_ns = min_age_ns
	};
	struct report_names names = sample_names(sample);

	return report_build(&sample->snapshot, &options, &names);
}

static void assert_counters(const struct site_stats *counters, uint64_t alloc_bytes,
			    uint64_t alloc_objects, uint64_t free_bytes, uint64_t free_objects)
{
	assert_int_equal(counters->alloc_bytes, alloc_bytes);
	assert_int_equal(counters->alloc_objects, alloc_objects);
	assert_int_equal(counters->free_bytes, free_bytes);
	assert_int_equal(counters->free_objects, free_objects);
}

static void test_server(void **state)
{
	struct sample *sample = sample_server();
	struct report *report = build(sample, SORT_INUSE, 10, 0);

	(void)state;
	assert_int_equal(report->wall_time, 1767225600);
	assert_int_equal(report->duration_ns, 30 * SAMPLE_SECOND);
	assert_int_equal(report->target_count, 1);
	assert_counters(&report->totals, 53485568, 55298, 1761280, 3250);
	assert_int_equal(report->sites_in_use, 2);
	assert_int_equal(report->site_count, 2);
	assert_int_equal(report->loss[LOSS_FREE_UNTRACKED], 12);
	assert_int_equal(report->sites[0].rank, 1);
	assert_int_equal(report->sites[0].pid, 4242);
	assert_string_equal(report->sites[0].allocator, "jemalloc");
	assert_int_equal(report->sites[0].stats.oldest_ns, 29800000000);
	assert_int_equal(site_stats_mean_age_ns(&report->sites[0].stats), 15 * SAMPLE_SECOND);
	assert_int_equal(report->sites[1].rank, 2);
	assert_int_equal(site_stats_mean_age_ns(&report->sites[1].stats), SAMPLE_SECOND / 2);
	report_free(report);
	sample_free(sample);
}

/* The first site's 97 samples represent 51,200 blocks; the others' calls were seen. */
static void test_samples(void **state)
{
	struct sample *sample = sample_server_sampled();
	struct report *report = build(sample, SORT_INUSE, 10, 0);

	(void)state;
	assert_counters(&report->totals, 53485568, 55298, 1761280, 3250);
	assert_counters(&report->sampled, 52428800, 51200, 1228800, 1200);
	assert_int_equal(report->recorded.samples, 97);
	assert_true(report->sites[0].sampled);
	assert_int_equal(report->sites[0].stats.samples, 97);
	assert_false(report->sites[1].sampled);
	assert_true(report->target_sampled[0]);
	assert_false(report->ended_sampled);
	assert_int_equal(report_calls_seen(report), 4096 + 2048 + 2 + 2 + 12);
	report_free(report);
	sample->sites[0].ended = true;
	report = build(sample, SORT_INUSE, 10, 0);
	assert_true(report->ended_sampled);
	assert_true(report->target_sampled[0]);
	assert_counters(&report->sampled, 0, 0, 0, 0);
	report_free(report);
	sample_free(sample);
}

/* Samples may represent so many blocks that the sum of their ages has no 64 bits. */
static void test_very_many_blocks(void **state)
{
	struct sample *sample = sample_server_sampled();
	uint64_t objects = 1ull << 40, age = 3600 * SAMPLE_SECOND;
	struct report *report;

	(void)state;
	sample->sites[0].stats =
		(struct site_stats){ .alloc_bytes = objects, .alloc_objects = objects };
	sample->sites[0].stats.age_sum_ns = (unsigned __int128)objects * age;
	report = build(sample, SORT_INUSE, 10, 0);
	assert_int_equal(site_stats_mean_age_ns(&report->sites[0].stats), age);
	report_free(report);
	sample_free(sample);
}

static void test_frames(void **state)
{
	struct sample *sample = sample_server();
	struct report *report = build(sample, SORT_INUSE, 0, 0);
	struct report_site *sites = sample_open_sites(report);
	const struct report_frame *frames = sites[0].frames;

	(void)state;
	assert_int_equal(sites[0].frame_count, 7);
	assert_string_equal(frames[0].function, "Arena::grow(std::size_t)");
	assert_true(frames[0].inlined);
	assert_int_equal(frames[0].line, 188);
	assert_string_equal(frames[1].function, "Parser::intern(std::string const&)");
	assert_false(frames[1].inlined);
	assert_int_equal(frames[0].offset, 0x1234);
	assert_int_equal(frames[1].offset, 0x1234);
	assert_string_equal(frames[1].build_id, "abababab");
	assert_int_equal(frames[4].kind, FRAME_RUBY);
	assert_null(frames[4].module);
	assert_null(frames[5].function);
	assert_null(frames[5].build_id);
	assert_string_equal(frames[5].module, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	assert_int_equal(sites[1].frames[2].kind, FRAME_ERROR);
	assert_string_equal(sites[1].frames[2].function, "no unwind information");
	sample_close_sites(sites, report->site_count);
	report_free(report);
	sample_free(sample);
}

/* Four sites that rank differently under every key; site 4 holds nothing, site 5 never allocated. */
static struct sample *sample_ranks(void)
{
	struct sample *sample = sample_new_empty(1);
	const struct stack *stack = sample_stack(sample, NULL, 0);

	sample_site(sample, 0, &sample_malloc, stack,
		    (struct site_stats){ 1000, 10, 100, 9, 0, 30 });
	sample_site(sample, 0, &sample_malloc, stack,
		    (struct site_stats){ 900, 300, 700, 1, 0, 50 });
	sample_site(sample, 0, &sample_malloc, stack,
		    (struct site_stats){ 5000, 20, 4500, 15, 0, 40 });
	sample_site(sample, 0, &sample_malloc, stack,
		    (struct site_stats){ 2000, 999, 2000, 999, 0, 99 });
	sample_site(sample, 0, &sample_malloc, stack, (struct site_stats){ 0, 0, 0, 0 });
	return sample;
}

/* `order` names the sites that are expected, by their allocated bytes. */
static void assert_ranked(enum report_sort sort, size_t top, const uint64_t *order, size_t count)
{
	struct sample *sample = sample_ranks();
	struct report *report = build(sample, sort, top, 0);
	size_t i;

	assert_int_equal(report->site_count, count);
	for (i = 0; i < count; i++) {
		assert_int_equal(report->sites[i].rank, i + 1);
		assert_int_equal(report->sites[i].stats.alloc_bytes, order[i]);
	}
	assert_counters(&report->totals, 8900, 1329, 7300, 1024);
	assert_int_equal(report->sites_in_use, 3);
	report_free(report);
	sample_free(sample);
}

static void test_sort_keys(void **state)
{
	(void)state;
	assert_ranked(SORT_INUSE, 10, (uint64_t[]){ 1000, 5000, 900 }, 3);
	assert_ranked(SORT_INUSE_OBJECTS, 10, (uint64_t[]){ 900, 5000, 1000 }, 3);
	assert_ranked(SORT_ALLOC, 10, (uint64_t[]){ 5000, 2000, 1000, 900 }, 4);
	assert_ranked(SORT_ALLOC_OBJECTS, 10, (uint64_t[]){ 2000, 900, 5000, 1000 }, 4);
	assert_ranked(SORT_AGE, 10, (uint64_t[]){ 900, 5000, 1000 }, 3);
	assert_ranked(SORT_GROWTH, 10, (uint64_t[]){ 1000, 5000, 900 }, 3);
	assert_ranked(SORT_CHURN, 10, (uint64_t[]){ 5000, 2000, 900, 1000 }, 4);
}

/* The most that was added first, and what became less last, however much it holds. */
static void test_sort_by_growth(void **state)
{
	static const uint64_t order[] = { 5100, 900, 1000 };
	struct sample *before = sample_ranks(), *after = sample_ranks();
	struct report_options options = { .sort = SORT_GROWTH, .top = 10 };
	const struct report_names names = { 0 };
	struct growth_base base = { 0 };
	struct report *report;
	size_t i;

	(void)state;
	growth_keep(&base, &before->snapshot, 0);
	after->snapshot.sites[0].stats.free_bytes += 300;
	after->snapshot.sites[2].stats.alloc_bytes += 100;
	options.base = &base;
	report = report_build(&after->snapshot, &options, &names);
	assert_int_equal(report->site_count, 3);
	for (i = 0; i < 3; i++)
		assert_int_equal(report->sites[i].stats.alloc_bytes, order[i]);
	report_free(report);
	growth_free(&base);
	sample_free(before);
	sample_free(after);
}

static void test_top(void **state)
{
	(void)state;
	assert_ranked(SORT_INUSE, 1, (uint64_t[]){ 1000 }, 1);
	assert_ranked(SORT_ALLOC, 2, (uint64_t[]){ 5000, 2000 }, 2);
	assert_ranked(SORT_INUSE, 3, (uint64_t[]){ 1000, 5000, 900 }, 3);
	assert_ranked(SORT_INUSE, 0, (uint64_t[]){ 1000, 5000, 900, 2000 }, 4);
}

static void test_min_age(void **state)
{
	struct sample *sample = sample_new_empty(1);
	const struct stack *stack = sample_stack(sample, NULL, 0);
	struct snapshot_site *old, *young, *mixed;
	struct report *report;

	(void)state;
	old = sample_site(sample, 0, &sample_malloc, stack, (struct site_stats){ 100, 10, 0, 0 });
	young = sample_site(sample, 0, &sample_malloc, stack, (struct site_stats){ 700, 7, 0, 0 });
	mixed = sample_site(sample, 0, &sample_malloc, stack,
			    (struct site_stats){ 900, 9, 300, 3 });
	old->stats.age_sum_ns = 10 * 40;
	young->stats.young_bytes = 700;
	young->stats.young_objects = 7;
	mixed->stats.young_bytes = 400;
	mixed->stats.young_objects = 4;
	mixed->stats.age_sum_ns = 2 * 50; /* of the two that are old enough */
	report = build(sample, SORT_INUSE, 0, 20);
	assert_int_equal(report->site_count, 2);
	assert_counters(&report->sites[0].stats, 500, 5, 300, 3);
	assert_int_equal(site_stats_mean_age_ns(&report->sites[0].stats), 50);
	assert_counters(&report->sites[1].stats, 100, 10, 0, 0);
	assert_counters(&report->totals, 600, 15, 300, 3);
	assert_counters(&report->recorded, 1700, 26, 300, 3);
	assert_int_equal(report->sites_in_use, 2);
	assert_int_equal(report->options.min_age_ns, 20);
	report_free(report);

	/* Without a limit nothing is young, whatever the snapshot says. */
	report = build(sample, SORT_INUSE, 0, 0);
	assert_counters(&report->totals, 1700, 26, 300, 3);
	report_free(report);
	sample_free(sample);
}

/* Blocks of no bytes are blocks; a mapping that has been cut to pieces may be bytes without a block. */
static void test_bytes_without_blocks(void **state)
{
	struct sample *sample = sample_new_empty(1);
	const struct stack *stack = sample_stack(sample, NULL, 0);
	struct report *report;

	(void)state;
	sample_site(sample, 0, &sample_malloc, stack, (struct site_stats){ 0, 5, 0, 1 });
	sample_site(sample, 0, &sample_malloc, stack, (struct site_stats){ 64, 1, 32, 1 })
		->stats.oldest_ns = 9;
	report = build(sample, SORT_INUSE, 10, 0);
	assert_int_equal(report->site_count, 2);
	assert_int_equal(report->sites_in_use, 2);
	assert_int_equal(report->sites[0].stats.oldest_ns, 9);
	assert_int_equal(site_stats_mean_age_ns(&report->sites[0].stats), 0);
	report_free(report);
	sample_free(sample);
}

static void test_damaged_counters(void **state)
{
	struct sample *sample = sample_new_empty(1);
	const struct stack *stack = sample_stack(sample, NULL, 0);
	struct snapshot_site *site;
	struct report *report;

	(void)state;
	site = sample_site(sample, 0, &sample_malloc, stack, (struct site_stats){ 10, 1, 90, 7 });
	site->stats.young_bytes = 1000;
	site->stats.young_objects = 1000;
	site->stats.oldest_ns = 5;
	site->stats.age_sum_ns = 5;
	sample->snapshot.start_ns = sample->snapshot.time_ns + 1;
	report = build(sample, SORT_ALLOC, 0, 1);
	assert_counters(&report->sites[0].stats, 10, 1, 10, 1);
	assert_int_equal(report->sites[0].stats.oldest_ns, 0);
	assert_int_equal(report->duration_ns, 0);
	report_free(report);
	sample_free(sample);
}

static void test_nothing(void **state)
{
	struct sample *sample = sample_new_empty(0);
	struct report *report = build(sample, SORT_INUSE, 10, 0);

	(void)state;
	assert_int_equal(report->site_count, 0);
	assert_int_equal(report->sites_in_use, 0);
	assert_counters(&report->totals, 0, 0, 0, 0);
	report_free(report);
	report_free(NULL);
	sample_free(sample);
}

/* As many sites as the kernel's tables hold, with few distinct weights, so that most of them tie. */
static void test_many_sites(void **state)
{
	enum { COUNT = 64000, TOP = 500 };
	struct sample *sample = sample_new_empty(1);
	struct snapshot_site *sites = memory_alloc(COUNT, sizeof(*sites));
	struct site_stats sum = { 0 };
	unsigned int seed = 3;
	size_t i, better;
	struct report *report;

	(void)state;
	sample_site(sample, 0, &sample_malloc, sample_stack(sample, NULL, 0), sum);
	for (i = 0; i < COUNT; i++) {
		sites[i] = sample->sites[0];
		/* 40503 is odd: the keys are all 2^16 residues in a mixed order. */
		sites[i].key = i * 40503 % 65536;
		sites[i].stats.alloc_bytes = 1000 + (uint64_t)rand_r(&seed) % 50;
		sites[i].stats.alloc_objects = 1;
		sum.alloc_bytes += sites[i].stats.alloc_bytes;
		/* The mean age carries the key through to the report. */
		sites[i].stats.age_sum_ns = sites[i].key;
	}
	sample->snapshot.sites = sites;
	sample->snapshot.site_count = COUNT;
	report = build(sample, SORT_INUSE, TOP, 0);
	assert_int_equal(report->site_count, TOP);
	assert_counters(&report->totals, sum.alloc_bytes, COUNT, 0, 0);
	for (i = 0; i < COUNT; i++) {
		const struct report_site *last = &report->sites[TOP - 1];

		better = sites[i].stats.alloc_bytes > last->stats.alloc_bytes ||
			 (sites[i].stats.alloc_bytes == last->stats.alloc_bytes &&
			  sites[i].key < site_stats_mean_age_ns(&last->stats));
		sum.alloc_objects += better;
	}
	/* Before the last one that is listed come exactly the others that are listed, in order. */
	assert_int_equal(sum.alloc_objects, TOP - 1);
	for (i = 1; i < TOP; i++) {
		const struct report_site *site = &report->sites[i];

		assert_true(site[-1].stats.alloc_bytes > site->stats.alloc_bytes ||
			    (site[-1].stats.alloc_bytes == site->stats.alloc_bytes &&
			     site_stats_mean_age_ns(&site[-1].stats) <
				     site_stats_mean_age_ns(&site->stats)));
	}
	report_free(report);
	free(sites);
	sample_free(sample);
}

static void test_calls(void **state)
{
	struct sample *sample = sample_ranks();
	struct report *report;
	int loss;

	(void)state;
	for (loss = 0; loss < LOSS_COUNT; loss++)
		sample->snapshot.loss[loss] = 0;
	sample->snapshot.loss[LOSS_FREE_UNTRACKED] = 1000000;
	sample->snapshot.loss[LOSS_BLOCKS_FULL] = 200000;
	sample->snapshot.loss[LOSS_RETURNS_UNMATCHED] = 30000;
	sample->snapshot.loss[LOSS_BYTES_UNATTRIBUTED] = 77;
	sample->snapshot.loss[LOSS_STACK_TRUNCATED] = 88;
	report = build(sample, SORT_INUSE, 1, 0);
	assert_int_equal(report_calls_dropped(report), 230000);
	assert_int_equal(report_calls_seen(report), 1329 + 1024 + 1230000);
	report_free(report);
	sample_free(sample);
}

/* Each process has its own totals; what ended programs held is in them, but not in those of the report. */
static void test_processes(void **state)
{
	struct sample *sample = sample_new_empty(2);
	const struct stack *stack = sample_stack(sample, NULL, 0);
	struct report *report;

	(void)state;
	sample_site(sample, 0, &sample_malloc, stack, (struct site_stats){ 100, 10, 40, 4 });
	sample_site(sample, 1, &sample_malloc, stack, (struct site_stats){ 7, 1, 0, 0 });
	sample_site(sample, 1, &sample_malloc, stack, (struct site_stats){ 5000, 5, 1000, 1 })
		->ended = true;
	sample_site(sample, 0, &sample_mmap, stack, (struct site_stats){ 4096, 1, 4096, 1 });
	report = build(sample, SORT_INUSE, 0, 0);
	assert_counters(&report->target_totals[0], 4196, 11, 4136, 5);
	assert_counters(&report->target_totals[1], 5007, 6, 1000, 1);
	assert_counters(&report->totals, 4203, 12, 4136, 5);
	assert_counters(&report->ended, 5000, 5, 1000, 1);
	assert_int_equal(report->sites_in_use, 2);
	assert_true(report->sites[0].ended);
	assert_false(report->sites[1].ended);
	report_free(report);
	sample_free(sample);
}

/* The first code without a name counts, but only before a line. */
static void test_hints(void **state)
{
	static const char *const first[] = { "ext", "ext", "libc", NULL, NULL };
	const struct report_options options = { SORT_INUSE, 10, 0 };
	struct sample *sample = sample_nameless();
	struct report_names names = sample_names(sample);
	struct report *report;
	struct report_site *sites;
	size_t i;

	(void)state;
	names.hint = sample_hint;
	report = report_build(&sample->snapshot, &options, &names);
	assert_int_equal(report->site_count, 5);
	sites = sample_open_sites(report);
	for (i = 0; i < 5; i++) {
		assert_int_equal(!sites[i].hint, !first[i]);
		if (first[i])
			assert_memory_equal(sites[i].hint, first[i], strlen(first[i]));
	}
	sample_close_sites(sites, report->site_count);
	report_free(report);
	sample_free(sample);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(source_name(SOURCE_HEAP), "heap");
	assert_string_equal(source_name(SOURCE_MMAP), "mmap");
	assert_string_equal(frame_kind_name(FRAME_NATIVE), "native");
	assert_string_equal(frame_kind_name(FRAME_RUBY), "ruby");
	assert_string_equal(frame_kind_name(FRAME_PYTHON), "python");
	assert_string_equal(frame_kind_name(FRAME_PHP), "php");
	assert_string_equal(frame_kind_name(FRAME_JIT), "jit");
	assert_string_equal(frame_kind_name(FRAME_KERNEL), "kernel");
	assert_string_equal(frame_kind_name(FRAME_ERROR), "error");
}

/* The sums of the coverage line are by these kinds. */
static void test_loss_kinds(void **state)
{
	static const enum loss calls[] = {
		LOSS_BLOCKS_FULL,	LOSS_BLOCKS_REFUSED,	 LOSS_SITES_FULL,
		LOSS_RETURNS_UNMATCHED, LOSS_RESULTS_UNREADABLE, LOSS_SAMPLES_SENSELESS,
		LOSS_THREADS_REFUSED,	LOSS_PROGRAMS_MISSED,	 LOSS_SITES_OVER_SHARE,
	};
	static const enum loss stacks[] = {
		LOSS_STACK_UNREADABLE, LOSS_STACK_UNMAPPED,  LOSS_STACK_JIT,
		LOSS_STACK_NO_ROWS,    LOSS_STACK_GUESSED,   LOSS_STACK_BROKEN,
		LOSS_STACK_NO_TABLE,   LOSS_STACK_TRUNCATED,
	};
	size_t counts[4] = { 0 }, i;
	int loss;

	(void)state;
	for (loss = 0; loss < LOSS_COUNT; loss++)
		counts[loss_kind((enum loss)loss)]++;
	assert_int_equal(counts[LOSS_KIND_CALL], sizeof(calls) / sizeof(calls[0]));
	assert_int_equal(counts[LOSS_KIND_STACK], sizeof(stacks) / sizeof(stacks[0]));
	assert_int_equal(counts[LOSS_KIND_BYTES], 1);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_int_equal(loss_kind(calls[i]), LOSS_KIND_CALL);
	for (i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		assert_int_equal(loss_kind(stacks[i]), LOSS_KIND_STACK);
	assert_int_equal(loss_kind(LOSS_BYTES_UNATTRIBUTED), LOSS_KIND_BYTES);
	assert_string_equal(loss_name(LOSS_FREE_UNTRACKED), "free_untracked");
	assert_false(loss_is_defect(LOSS_FREE_UNTRACKED));
	assert_true(loss_is_defect(LOSS_BLOCKS_FULL));
	assert_string_equal(loss_sentence(LOSS_STACK_TRUNCATED), "stacks cut at --stack-depth");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_very_many_blocks),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_sort_keys),
		cmocka_unit_test(test_sort_by_growth),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_min_age),
		cmocka_unit_test(test_bytes_without_blocks),
		cmocka_unit_test(test_damaged_counters),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_many_sites),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_loss_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
