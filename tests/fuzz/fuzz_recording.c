/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that somebody has changed: bytes of the file, or values of its tables. Each change is five bytes of the input: what is
 * changed, where (two), and to what (two).
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "../unit/budget_world.h"
#include "../unit/recorded_run.h"
#include "fuzz.h"
#include "recording/past_reader.h"
#include "recording/reader.h"

#define SECONDS 3

static char path[64], original[64];

static const char *const columns[][2] = {
	{ "frame", "caller" },
	{ "frame", "kind" },
	{ "frame", "module" },
	{ "frame", "offset" },
	{ "frame", "name" },
	{ "frame", "reason" },
	{ "module", "path" },
	{ "module", "build_id" },
	{ "module", "id" },
	{ "name", "function" },
	{ "name", "line" },
	{ "symbol", "function" },
	{ "symbol", "position" },
	{ "symbol", "inlined" },
	{ "function", "allocator" },
	{ "target", "pid" },
	{ "target", "comm" },
	{ "target", "id" },
	{ "site", "key" },
	{ "site", "target" },
	{ "site", "source" },
	{ "site", "region" },
	{ "site", "stack" },
	{ "site", "ended" },
	{ "figures", "site" },
	{ "figures", "gone" },
	{ "figures", "alloc_bytes" },
	{ "figures", "free_objects" },
	{ "figures", "mean_born_ns" },
	{ "figures", "born_rest_ns" },
	{ "figures", "young_objects" },
	{ "figures", "lives" },
	{ "figures", "ages" },
	{ "figures", "ages_ns" },
	{ "figures", "life_longest" },
	{ "process", "listed" },
	{ "process", "late_files" },
	{ "process", "target" },
	{ "process", "pss_bytes" },
	{ "loss", "name" },
	{ "loss", "count" },
	{ "interval", "time_ns" },
	{ "interval", "start_ns" },
	{ "interval", "whole" },
	{ "recording", "value" },
	{ "budget", "time_ns" },
	{ "budget", "traced_ns" },
	{ "budget", "window_count" },
	{ "window_mark", "start_ns" },
	{ "window_mark", "traced_ns" },
	{ "window_mark", "windows" },
	{ "window_mark", "until" },
	{ "heap", "place" },
	{ "heap", "reason" },
	{ "census", "place" },
	{ "census", "time_ns" },
	{ "census", "sizes" },
	{ "census", "live_bytes" },
	{ "cohort", "key" },
	{ "cohort", "allocated_blocks" },
	{ "cohort", "freed_blocks" },
	{ "cohort", "blocks" },
};

static const char *const values[] = { "NULL",
				      "-1",
				      "0",
				      "1",
				      "2",
				      "9223372036854775807",
				      "-9223372036854775808",
				      "1.5",
				      "'\x1b'",
				      "'native'",
				      "'[1,2,3]'",
				      "'[9223372036854775807,9223372036854775807]'",
				      "'[1,'",
				      "'[[96,2,3],[112,0,9007199254740992]]'",
				      "'[[96,4,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9]]'",
				      "'[[96,4,0,0,0,0,0,0,0,0,0,1,9007199254740992,1,0,0,0,1,1]]'",
				      "replace(blocks, '4', '9007199254740992')",
				      "replace(sizes, '1', '9')",
				      "x'00'",
				      "zeroblob(2000000)",
				      "4294967296",
				      "rowid",
				      "id + 1",
				      "''" };

static void remove_end(const char *end)
{
	char name[80];

	snprintf(name, sizeof(name), "%s%s", path, end);
	unlink(name);
}

static void remove_all(void)
{
	remove_end("");
	remove_end("-wal");
	remove_end("-shm");
	remove_end("-journal");
	unlink(original);
}

/* The last interval is one of --budget. */
static struct budget_report *make_budget(uint64_t time_ns)
{
	struct budget_report *report = world_new(10);
	struct budget_heap *heap = world_add_heap(report);
	const struct world_blocks leak = {
		.key = 1000, .size = 104, .per_window = 20, .never = 1, .life_s = 1
	};
	const struct world_blocks cache = {
		.key = 1002, .size = 208, .per_window = 9, .life_s = 8, .written = 0.1
	};
	size_t i;

	world_add_size(heap, 104, 20000, 0);
	world_add_size(heap, 208, 0, 900);
	world_add(report, &leak);
	world_add(report, &cache);
	/* Its times are those of the run. */
	for (i = 0; i < report->mark_count; i++)
		report->marks[i].start_ns += time_ns - report->time_ns;
	for (i = 0; i < heap->census_count; i++)
		heap->censuses[i].time_ns += time_ns - report->time_ns;
	report->start_ns += time_ns - report->time_ns;
	report->time_ns = time_ns;
	return report;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct run *run = run_new();
	const struct writer_options options = { .names = run_names(run),
						.host = "here",
						.budget = true };
	struct writer writer;
	struct error error = { 0 };
	uint64_t second;

	(void)argc, (void)argv;
	snprintf(path, sizeof(path), "/tmp/fuzz_recording-%d.db", getpid());
	snprintf(original, sizeof(original), "/tmp/fuzz_recording-%d.old", getpid());
	MUST(!writer_open(&writer, original, &options, &error));
	for (second = 8; second < 8 + SECONDS; second++) {
		struct snapshot *snapshot = run_snapshot(run, second);

		if (second == 8 + SECONDS - 1)
			snapshot->budget = make_budget(snapshot->time_ns);
		MUST(!writer_add(&writer, snapshot, NULL, &error));
		snapshot_free(snapshot);
	}
	MUST(!writer_close(&writer, &error));
	run_free(run);
	atexit(remove_all);
	return 0;
}

/* A fresh copy of the sound file. */
static void copy_original(void)
{
	unsigned char bytes[1 << 20];
	FILE *from = fopen(original, "r"), *to;
	size_t size;

	remove_end("-wal");
	remove_end("-shm");
	to = fopen(path, "w");
	MUST(from && to);
	size = fread(bytes, 1, sizeof(bytes), from);
	MUST(size && size < sizeof(bytes) && fwrite(bytes, 1, size, to) == size);
	MUST(!fclose(from) && !fclose(to));
}

static void change_value(const uint8_t *data)
{
	const char *const *column = columns[data[1] % (sizeof(columns) / sizeof(columns[0]))];
	const char *value = values[data[3] % (sizeof(values) / sizeof(values[0]))];
	sqlite3 *handle;
	char sql[256];

	if (sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
		snprintf(sql, sizeof(sql),
			 "UPDATE OR IGNORE %s SET %s = %s WHERE %u %% 2 OR %s = %u", column[0],
			 column[1], value, data[4], column[1], data[2]);
		sqlite3_exec(handle, sql, NULL, NULL, NULL);
	}
	sqlite3_close(handle);
}

static void change_byte(const uint8_t *data)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	MUST(fd >= 0);
	/* Pages have up to 4096 bytes, the first ones matter most. */
	if (data[0] == 255)
		MUST(!ftruncate(fd, data[1] << 10));
	else
		MUST(pwrite(fd, &data[4], 1, (data[1] << 8 | data[2]) + (data[3] << 12)) == 1);
	close(fd);
}

static const struct symbol_list *lookup(void *context, const struct frame *frame)
{
	return reader_lookup(context, frame);
}

static const char *hint(void *context, const struct frame *frame)
{
	return reader_hint(context, frame);
}

static bool begin_moment(void *context, uint64_t time_ns)
{
	return history_begin(context, time_ns);
}

static void set_site(void *context, uint64_t key, const struct site_stats *stats)
{
	history_set(context, key, stats);
}

static void end_moment(void *context)
{
	history_end(context);
}

/* Verdicts are found by what was before. */
static bool load_history(struct reader *reader, uint64_t interval, struct history *ret_history)
{
	const struct past_sink sink = { begin_moment, set_site, end_moment, ret_history };
	struct error error = { 0 };

	if (!past_reader_read(reader, interval, &sink, &error))
		return true;
	MUST(error.kind == ERROR_USAGE && !strchr(error.text, '\x1b'));
	return false;
}

/* What can be loaded can be reported, and no byte of it reaches a terminal. */
static void check_interval(struct reader *reader, uint64_t interval)
{
	const struct report_names names = { lookup, reader, hint };
	struct history history = { 0 };
	struct error error = { 0 };
	struct snapshot *snapshot;
	char *text;

	if (reader_load(reader, interval, &snapshot, &error)) {
		MUST(error.kind == ERROR_USAGE && !strchr(error.text, '\x1b'));
		return;
	}
	if (load_history(reader, interval, &history)) {
		struct budget_estimates *estimates = budget_estimates_new(snapshot->budget);
		const struct report_options options = { .sort = SORT_LEAK,
							.history = estimates ? NULL : &history,
							.estimates = estimates };

		if (estimates)
			budget_estimates_apply(estimates, snapshot);
		text = run_render_with(snapshot, &options, &names, interval % 2 ? "json" : "text");
		MUST(!strchr(text, '\x1b'));
		free(text);
		if (estimates) {
			text = run_render_with(snapshot, &options, &names, "text");
			MUST(!strchr(text, '\x1b'));
			free(text);
		}
		budget_estimates_free(estimates);
	}
	history_free(&history);
	snapshot_free(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct reader reader;
	uint64_t interval;

	copy_original();
	for (; size >= 5; data += 5, size -= 5)
		if (data[0] % 4)
			change_value(data);
		else
			change_byte(data);
	if (reader_open(&reader, path, &error)) {
		MUST(error.kind == ERROR_USAGE);
		reader_close(&reader);
		return 0;
	}
	for (interval = 1; interval <= SECONDS; interval++)
		check_interval(&reader, interval);
	reader_close(&reader);
	return 0;
}
