/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen of `tracer top` without a terminal: a report, a view and a size give lines; a key and a view give another view. The truth about
 * figures is the sample's, in sample.h; what must hold of any screen is asked of thousands, of random sizes, after random keys.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "analyze/group.h"
#include "base/text.h"
#include "command/growth_window.h"
#include "command/messages.h"
#include "command/showing.h"
#include "top/draw.h"
#include "top/trend.h"
#include "unit/random_numbers.h"
#include "unit/sample.h"

/* A screen, and all that it is made of. */
struct world {
	struct sample *sample;
	struct report_names names;
	struct frame_rules rules;
	struct judge *judge;
	struct grouped *grouped;
	struct report *report;
	struct history history;
	struct rows rows;
	struct view view;
	struct view_extent extent;
	struct content content;
	struct screen screen;
};

static void world_rank(struct world *world)
{
	const struct report_options options = { .sort = world->view.sort,
						.only_held = true,
						.lines = !world->view.by_process,
						.judge = world->judge,
						.history = &world->history };

	report_free(world->report);
	world->report = report_build(&world->grouped->snapshot, &options, &world->names);
	rows_find(&world->rows, world->report, &world->view);
	world->content.is_gone = !rows_follow(&world->rows, world->report, &world->view);
	world->content.report = world->report;
}

static void world_group(struct world *world)
{
	const enum group_by by = world->view.by_process ? GROUP_BY_PROCESS : GROUP_BY_SHOWN;

	group_free(world->grouped);
	world->grouped = group_build(&world->sample->snapshot, by, false, world->judge);
	world_rank(world);
}

static void world_draw(struct world *world, size_t columns, size_t rows)
{
	screen_free(&world->screen);
	world->screen =
		draw_screen(&world->content, &world->view, columns, rows, false, &world->extent);
}

static struct world *world_of(struct sample *sample)
{
	struct world *world = memory_alloc(1, sizeof(*world));
	size_t moment, i;

	world->sample = sample;
	world->names = sample_names(sample);
	world->view = view_new(SORT_INUSE, true);
	world->judge = judge_new(&sample->snapshot, &world->rules, &world->names);
	for (moment = 0; moment < 4; moment++) {
		assert_true(history_begin(&world->history, (10 + moment) * SAMPLE_SECOND));
		for (i = 0; i < sample->snapshot.site_count; i++)
			history_set(&world->history, sample->sites[i].key, &sample->sites[i].stats);
	}
	world->content = (struct content){ .rows = &world->rows,
					   .history = &world->history,
					   .growth_ns = 10 * SAMPLE_SECOND };
	world_group(world);
	world_draw(world, 80, 24);
	return world;
}

static void world_free(struct world *world)
{
	screen_free(&world->screen);
	rows_free(&world->rows);
	history_free(&world->history);
	report_free(world->report);
	group_free(world->grouped);
	judge_free(world->judge);
	sample_free(world->sample);
	free(world);
}

static unsigned int world_press(struct world *world, uint32_t key)
{
	const unsigned int effect = view_press(&world->view, &world->extent, key);

	if (!world->view.chosen_id)
		rows_follow(&world->rows, world->report, &world->view);
	if (effect & VIEW_GROUP)
		world_group(world);
	else if (effect & (VIEW_RANK | VIEW_THAW))
		world_rank(world);
	world_draw(world, world->screen.columns, world->screen.rows);
	return effect;
}

static void world_type(struct world *world, const char *text)
{
	for (; *text; text++)
		world_press(world, (unsigned char)*text);
}

/* The line with a text in it, from 0; -1 = none. */
static int world_find(const struct world *world, const char *text)
{
	size_t i;

	for (i = 0; i < world->screen.count; i++)
		if (strstr(world->screen.lines[i].text.data, text))
			return (int)i;
	return -1;
}

static enum screen_style world_style(const struct world *world, const char *text)
{
	const int line = world_find(world, text);
	const struct screen_line *found;

	assert_true(line >= 0);
	found = &world->screen.lines[line];
	return screen_style_at(found, (size_t)(strstr(found->text.data, text) - found->text.data));
}

/* What the 48.8 MiB less 1.2 MiB of the sample's leak come to: by hand. */
#define LEAK "48.8 MiB"

static void test_table(void **state)
{
	struct world *world = world_of(sample_server());

	(void)state;
	assert_int_equal(world->screen.count, 24);
	assert_int_equal(world_find(world, "ruby (4242), traced for 30.0 s"), 0);
	assert_int_equal(world_find(world, "GROWTH/s"), 6);
	assert_true(world_find(world, LEAK) >= 0);
	assert_int_equal(world_style(world, "IN USE"), SCREEN_SORTED);
	assert_int_equal(world_style(world, "WHERE"), SCREEN_TITLE);
	/* The first row is chosen, and no other. */
	assert_int_equal(screen_style_at(&world->screen.lines[7], 0), SCREEN_CHOSEN);
	assert_int_equal(screen_style_at(&world->screen.lines[8], 0), SCREEN_PLAIN);
	assert_int_equal(world_find(world, "F10Quit"), 23);
	world_free(world);
}

/* 1,200 of 51,200 blocks of 1 KiB are freed: 50,000 blocks, 51,200,000 bytes in use, all of it grown in ten seconds. */
static void test_figures(void **state)
{
	struct world *world = world_of(sample_server());
	const char *row = world->screen.lines[7].text.data;

	(void)state;
	assert_non_null(strstr(row, "+4.9 MiB"));
	assert_non_null(strstr(row, LEAK));
	assert_non_null(strstr(row, "50,000"));
	world_free(world);
}

static void test_sort(void **state)
{
	struct world *world = world_of(sample_server());

	(void)state;
	world_press(world, '>');
	assert_int_equal(world->view.sort, SORT_INUSE_OBJECTS);
	assert_int_equal(world_style(world, "BLOCKS"), SCREEN_SORTED);
	world_press(world, '<');
	world_press(world, '<');
	assert_int_equal(world->view.sort, SORT_GROWTH);
	world_press(world, '<');
	assert_int_equal(world->view.sort, SORT_LEAK);
	world_press(world, VIEW_KEY_F1 + 5);
	assert_int_equal(world->view.sort, SORT_GROWTH);
	world_press(world, 'A');
	assert_int_equal(world->view.sort, SORT_AGE);
	world_press(world, 'M');
	assert_int_equal(world->rows.sites[0], 0);
	world_press(world, 'I');
	assert_int_equal(world->rows.sites[0], world->rows.count - 1);
	/* Without verdicts there is no such order. */
	world->view.has_verdicts = false;
	assert_int_equal(world_press(world, 'V'), 0);
	assert_int_equal(world->view.sort, SORT_INUSE);
	world_press(world, '<');
	world_press(world, '<');
	assert_int_equal(world->view.sort, SORT_AGE);
	assert_int_equal(world_find(world, "VERDICT"), -1);
	world_free(world);
}

static void test_filter(void **state)
{
	struct world *world = world_of(sample_server());
	const size_t all = world->rows.count;

	(void)state;
	assert_true(all > 1);
	world_type(world, "/PARSERx");
	assert_int_equal(world->rows.count, 0);
	assert_true(world_find(world, "no row has \"PARSERx\" in it") > 0);
	assert_int_equal(world_find(world, "Filter: PARSERx_"), 23);
	world_press(world, VIEW_KEY_BACKSPACE);
	assert_true(world->rows.count > 0 && world->rows.count < all);
	/* Keys are text as long as it is typed. */
	world_type(world, "q");
	assert_true(world->view.typing);
	world_press(world, 'U' - '@');
	assert_string_equal(world->view.filter, "");
	world_press(world, 0xe9);
	world_press(world, 0x65e5);
	world_press(world, 0x1f41b);
	assert_string_equal(world->view.filter, "\xc3\xa9\xe6\x97\xa5\xf0\x9f\x90\x9b");
	world_press(world, VIEW_KEY_BACKSPACE);
	assert_string_equal(world->view.filter, "\xc3\xa9\xe6\x97\xa5");
	world_press(world, VIEW_KEY_ENTER);
	assert_false(world->view.typing);
	assert_true(world_find(world, "[filter: \xc3\xa9\xe6\x97\xa5]") >= 0);
	world_press(world, VIEW_KEY_ESCAPE);
	assert_string_equal(world->view.filter, "");
	assert_int_equal(world->rows.count, all);
	world_free(world);
}

/* All frames of the sample's leak, and of no other row. */
static void test_stack(void **state)
{
	static const char *const frames[] = {
		"Arena::grow(std::size_t)", "Parser::intern",	       "rb_parser_parse",
		"vm_call_cfunc_with_frame", "ReportsController#index", "__libc_start_main"
	};
	struct world *world = world_of(sample_server());
	size_t i;

	(void)state;
	world_press(world, VIEW_KEY_ENTER);
	assert_int_equal(world->view.page, VIEW_STACK);
	for (i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		assert_true(world_find(world, frames[i]) > 0);
	assert_int_equal(world_find(world, "st_init_table_with_size"), -1);
	assert_int_equal(world_style(world, "> "), SCREEN_PLAIN);
	/* It stays the same row, whatever the order is. */
	world->view.sort = SORT_INUSE_OBJECTS;
	world->view.inverted = true;
	world_rank(world);
	world_draw(world, 80, 24);
	assert_true(world_find(world, "Arena::grow") > 0);
	/* And when it holds nothing any more, no other takes its place. */
	world->view.chosen_id ^= 1;
	world_rank(world);
	world_draw(world, 80, 24);
	assert_true(world_find(world, "holds nothing any more") > 0);
	world_press(world, 'q');
	assert_int_equal(world->view.page, VIEW_TABLE);
	assert_int_equal(world_press(world, 'q'), VIEW_QUIT);
	world_free(world);
}

static void test_pages(void **state)
{
	struct world *world = world_of(sample_server());

	(void)state;
	world_press(world, 'h');
	assert_true(world_find(world, "whole") < 0 && world_find(world, "freeze the screen") > 0);
	world_press(world, VIEW_KEY_F1);
	assert_int_equal(world->view.page, VIEW_TABLE);
	world_press(world, 'c');
	assert_true(world_find(world, "coverage: ") > 0);
	assert_int_equal(world_press(world, VIEW_KEY_F10), VIEW_QUIT);
	/* A page longer than the screen is scrolled to its end, and no further. */
	world_press(world, 'h');
	world_draw(world, 80, 10);
	world_press(world, VIEW_KEY_END);
	assert_int_equal(world->view.offset, world->extent.lines - world->extent.room);
	world_press(world, VIEW_KEY_DOWN);
	assert_int_equal(world->view.offset, world->extent.lines - world->extent.room);
	world_free(world);
}

static void test_processes(void **state)
{
	struct sample *sample = sample_server();
	struct world *world;

	(void)state;
	sample->snapshot.target_count = 2;
	sample_site(sample, 1, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ .alloc_bytes = 1 << 30, .alloc_objects = 1 });
	world = world_of(sample);
	assert_int_equal(world_find(world, "2 processes: ruby, my worker:1"), 0);
	world_press(world, 'p');
	assert_int_equal(world->rows.count, 2);
	assert_true(world_find(world, "my worker:1") < world_find(world, "PID") + 2);
	assert_non_null(strstr(world->screen.lines[7].text.data, "1.0 GiB"));
	/* Its sites. */
	world_press(world, VIEW_KEY_ENTER);
	assert_false(world->view.by_process);
	assert_int_equal(world->view.pid, 4243);
	world_press(world, VIEW_KEY_ESCAPE);
	assert_true(world->view.by_process && !world->view.pid);
	world_press(world, VIEW_KEY_TAB);
	assert_false(world->view.by_process);
	world_free(world);
}

/* A part of a snapshot is the sites of one process, and the whole is there again afterwards. */
static void test_showing(void **state)
{
	struct sample *sample = sample_server();
	const struct report_names names = sample_names(sample);
	const struct frame_rules rules = { 0 };
	const struct report_options options = { .sort = SORT_INUSE };
	struct snapshot *snapshot = snapshot_new();
	struct showing showing = { 0 };
	size_t i;

	(void)state;
	sample_site(sample, 1, &sample_malloc, sample_stack(sample, NULL, 0),
		    (struct site_stats){ .alloc_bytes = 4096, .alloc_objects = 1 });
	snapshot->time_ns = sample->snapshot.time_ns;
	snapshot_add_target(snapshot, &sample->targets[0]);
	snapshot_add_target(snapshot, &sample->targets[1]);
	for (i = 0; i < sample->snapshot.site_count; i++) {
		struct snapshot_site site = sample->sites[i];

		site.stack = sample_stack(sample, NULL, 0);
		snapshot_add_site(snapshot, &site);
	}
	showing_take(&showing, snapshot, &rules, &names);
	showing_group(&showing, GROUP_BY_PROCESS, 4243, false);
	showing_rank(&showing, &options);
	assert_int_equal(showing.report->site_count, 1);
	assert_int_equal(site_stats_inuse_bytes(&showing.report->totals), 4096);
	/* What it has mapped is in its row, too. */
	showing_group(&showing, GROUP_BY_PROCESS, 0, false);
	showing_rank(&showing, &options);
	assert_int_equal(showing.report->site_count, 2);
	showing_free(&showing);
	sample_free(sample);
}

static void test_effects(void **state)
{
	struct world *world = world_of(sample_server());

	(void)state;
	assert_int_equal(world_press(world, 'f'), VIEW_DRAW);
	assert_true(world->view.frozen && world_find(world, "[frozen]") > 0);
	assert_int_equal(world_press(world, ' '), VIEW_DRAW | VIEW_THAW);
	assert_int_equal(world_press(world, 'm'), VIEW_DRAW | VIEW_RANK | VIEW_MARK | VIEW_THAW);
	assert_true(world->view.marked && world_find(world, "SINCE MARK") > 0);
	assert_int_equal(world_press(world, 'u'), VIEW_DRAW | VIEW_RANK | VIEW_UNMARK);
	assert_int_equal(world_press(world, 'u'), 0);
	assert_int_equal(world_press(world, VIEW_KEYS), 0);
	world_free(world);
}

/* What was chosen stays chosen while others overtake it; who has chosen nothing looks at the first. */
static void test_choice(void **state)
{
	struct world *world = world_of(sample_server());
	size_t second;

	(void)state;
	assert_true(world->rows.count > 1);
	second = world->rows.sites[1];
	world_press(world, 'j');
	assert_int_equal(world->view.chosen, 1);
	assert_int_equal(world->view.chosen_id, world->report->sites[second].origin->id);
	world->view.inverted = true;
	world_rank(world);
	assert_int_equal(world->view.chosen, world->rows.count - 2);
	world_press(world, VIEW_KEY_END);
	world_press(world, VIEW_KEY_DOWN);
	assert_int_equal(world->view.chosen, world->rows.count - 1);
	world_press(world, VIEW_KEY_HOME);
	world->view.inverted = false;
	world_rank(world);
	assert_int_equal(world->view.chosen, 0);
	world_free(world);
}

static void test_empty(void **state)
{
	struct world *world = world_of(sample_new_empty(1));
	uint32_t key;

	(void)state;
	assert_true(world_find(world, "no allocation was recorded yet") > 0);
	for (key = VIEW_KEY_NONE; key < VIEW_KEYS; key++)
		world_press(world, key);
	/* Before there is a report, too. */
	world->content.report = NULL;
	world->view = view_new(SORT_LEAK, true);
	world_draw(world, 80, 24);
	assert_true(world_find(world, "nothing is traced yet") >= 0);
	world->content.message = "tracer: waiting for a \033[31mprocess";
	world_draw(world, 80, 24);
	assert_int_equal(world_find(world, "tracer: waiting for a \\x1b[31mprocess"), 23);
	world_free(world);
}

static void check_trend(const uint64_t *bytes, size_t count, size_t width, const char *expected)
{
	struct history_point points[HISTORY_POINTS] = { 0 };
	struct buffer out = { 0 };
	size_t i;

	for (i = 0; i < count; i++)
		points[i].bytes = bytes[i];
	trend_append(&out, points, count, width, true);
	assert_string_equal(out.data ? out.data : "", expected);
	buffer_free(&out);
}

static void test_trend(void **state)
{
	const uint64_t rises[] = { 0, 100, 200, 300, 400, 500, 600, 700, 800 };
	const uint64_t falls[] = { UINT64_MAX, UINT64_MAX / 2, 1, 0 };

	(void)state;
	check_trend(rises, 9, 9, " .:-=+*#@");
	check_trend(rises, 9, 12, "    .:-=+*#@");
	/* The most of each part. */
	check_trend(rises, 9, 3, ":+@");
	check_trend(falls, 4, 4, "@-. ");
	check_trend(falls, 0, 3, "   ");
	check_trend(falls, 4, 0, "");
}

/* Growth is counted from ten seconds ago, from the first moment as long as there is none, and from a mark if there is one. */
static void test_growth_window(void **state)
{
	struct sample *sample = sample_server();
	struct growth_window window = { 0 };
	struct snapshot *snapshot = &sample->snapshot;
	uint64_t ns, second;

	(void)state;
	assert_null(growth_window_find(&window, 5 * SAMPLE_SECOND, &ns));
	for (second = 1; second <= 100; second++) {
		snapshot->time_ns = second * SAMPLE_SECOND;
		if (second > 1) {
			assert_non_null(growth_window_find(&window, snapshot->time_ns, &ns));
			assert_int_equal(ns, (second <= 11 ? second - 1 : 10) * SAMPLE_SECOND);
		}
		growth_window_keep(&window, snapshot, false);
		/* Many in a second take no room. */
		snapshot->time_ns += 1000;
		growth_window_keep(&window, snapshot, false);
	}
	snapshot->time_ns = 50 * SAMPLE_SECOND;
	growth_window_mark(&window, snapshot, false);
	assert_ptr_equal(growth_window_find(&window, 101 * SAMPLE_SECOND, &ns), &window.mark.base);
	assert_int_equal(ns, 51 * SAMPLE_SECOND);
	growth_window_unmark(&window);
	growth_window_find(&window, 101 * SAMPLE_SECOND, &ns);
	assert_int_equal(ns, 10 * SAMPLE_SECOND);
	growth_window_free(&window);
	sample_free(sample);
}

static void test_messages(void **state)
{
	FILE *file = tmpfile();
	const struct log log = { file, LOG_NOTICE };
	struct messages messages;
	char text[256] = "";

	(void)state;
	assert_non_null(file);
	messages_open(&messages, &log);
	messages.is_terminal = true;
	log_write(&messages.log, LOG_NOTICE, "one");
	messages_hold(&messages);
	log_write(&messages.log, LOG_VERBOSE, "hidden");
	log_write(&messages.log, LOG_NOTICE, "two\033[2J");
	assert_string_equal(messages.last.data, "tracer: two\\x1b[2J");
	assert_int_equal(ftell(file), strlen("tracer: one\n"));
	messages_close(&messages);
	rewind(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	assert_string_equal(text, "tracer: one\ntracer: two\\x1b[2J\n");
	fclose(file);
}

/* Any screen: no line too wide, none too many, and nothing that drives a terminal. */
static void check_screen(const struct screen *screen)
{
	size_t i, at;

	assert_true(screen->count <= screen->rows);
	for (i = 0; i < screen->count; i++) {
		const struct buffer *text = &screen->lines[i].text;

		assert_int_equal(strlen(text->data), text->length);
		assert_true(screen_width(text->data) <= screen->columns);
		for (at = 0; at < text->length; at++)
			assert_true((unsigned char)text->data[at] >= ' ' && text->data[at] != 0x7f);
	}
}

static struct sample *hostile_sample(void)
{
	struct sample *sample = sample_server();
	struct frame frames[] = { { FRAME_NATIVE, 0, 0, 0x10, NULL } };

	strcpy(sample->targets[0].comm, "\033]0;x\007\xff");
	strcpy(sample->targets[1].comm, "\xe2\x80\xae\xe6\x97\xa5\n");
	sample->snapshot.target_count = 2;
	frames[0].address = sample_name(sample, "\033[2J\033[31m<b>\xe2\x80\xaehidden\n\r\t",
					"/tmp/\033[H\xf0\x9f\x90\x9b.c", 7);
	sample_site(sample, 1, &sample_malloc, sample_stack(sample, frames, 1),
		    (struct site_stats){ .alloc_bytes = UINT64_MAX, .alloc_objects = UINT64_MAX });
	sample->snapshot.loss[0] = UINT64_MAX;
	return sample;
}

static void test_hostile(void **state)
{
	struct world *world = world_of(hostile_sample());

	(void)state;
	check_screen(&world->screen);
	assert_true(world_find(world, "\\x1b]0;x\\x07\\xff") >= 0);
	world_press(world, VIEW_KEY_ENTER);
	check_screen(&world->screen);
	assert_true(world_find(world, "\\x1b[2J\\x1b[31m<b>") >= 0);
	world_free(world);
}

static uint32_t below(struct random_numbers *random, uint32_t limit)
{
	return (uint32_t)(random_word(random) % limit);
}

static void test_random(void **state)
{
	struct random_numbers random = { 20261124 };
	struct world *world = world_of(hostile_sample());
	size_t round;
	uint32_t key;

	(void)state;
	for (round = 0; round < 4000; round++) {
		if (below(&random, 8) == 0)
			world_draw(world, below(&random, 200), below(&random, 60));
		key = below(&random, 2) ? VIEW_KEY_NONE + below(&random, VIEW_KEYS - VIEW_KEY_NONE)
					: below(&random, 0x180);
		world_press(world, key);
		check_screen(&world->screen);
		assert_true(!world->rows.count || world->view.chosen < world->rows.count);
		assert_true(!world->rows.count || world->view.first <= world->view.chosen);
	}
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	      cmocka_unit_test(test_figures),
		cmocka_unit_test(test_sort),	      cmocka_unit_test(test_filter),
		cmocka_unit_test(test_stack),	      cmocka_unit_test(test_pages),
		cmocka_unit_test(test_processes),     cmocka_unit_test(test_showing),
		cmocka_unit_test(test_effects),	      cmocka_unit_test(test_choice),
		cmocka_unit_test(test_empty),	      cmocka_unit_test(test_trend),
		cmocka_unit_test(test_growth_window), cmocka_unit_test(test_messages),
		cmocka_unit_test(test_hostile),	      cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
