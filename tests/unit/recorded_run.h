/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of a run that never was, one for each number of seconds: two processes, one of which ends; sites that leak, that come to
 * rest, that come and go; frames of all kinds that have names. What each has at a second follows from that number alone.
 */
#ifndef TESTS_UNIT_RECORDED_RUN_H
#define TESTS_UNIT_RECORDED_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report.h"
#include "base/memory.h"
#include "recording/writer.h"
#include "render/render.h"

#define RUN_SECOND 1000000000ull
#define RUN_BEGIN (5000 * RUN_SECOND)
#define RUN_SITES 8
#define RUN_ENDS 40 /* the second process, at this second */

struct run {
	struct module_list modules;
	struct name_pool *names;
	struct target targets[2];
	struct function_name functions[2];
	struct stack *stacks[RUN_SITES];
	struct symbol symbols[2];
	struct symbol_list list;
	char function[64];
};

/* Two functions at each place, one of them inlined, named after it. No name where the offset ends with 0xf. */
static const struct symbol_list *run_lookup(void *context, const struct frame *frame)
{
	struct run *run = context;

	run->list = (struct symbol_list){ 1, run->symbols };
	run->symbols[0] = (struct symbol){ 0 };
	if (frame->kind != FRAME_NATIVE || frame->module == MODULE_NONE ||
	    (frame->offset & 0xf) == 0xf)
		return &run->list;
	snprintf(run->function, sizeof(run->function), "f\x1b[31m_%u_%llx", frame->module,
		 (unsigned long long)frame->offset);
	run->symbols[0] = (struct symbol){ "inlined<int>", "a.hpp", 7, true };
	run->symbols[1] =
		(struct symbol){ run->function, "src/b.c", (uint32_t)frame->offset, false };
	run->list.count = 2;
	return &run->list;
}

static const char *run_hint(void *context, const struct frame *frame)
{
	(void)context;
	return (frame->offset & 0xf) == 0xf ? "a package has it" : NULL;
}

static inline struct interner_names run_names(struct run *run)
{
	return (struct interner_names){ run_lookup, run_hint, run };
}

static void run_add_module(struct run *run, const char *path, unsigned char byte)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(path);
	module->fd = -1;
	module->device = byte;
	module->inode = 77u + byte;
	module->build_id_size = byte ? 20 : 0;
	memset(module->build_id, byte, 20);
	module_list_add(&run->modules, module);
}

static struct stack *run_stack(struct run *run, uint64_t site)
{
	const struct frame_name ruby = { "Shop#add", "shop.rb", (uint32_t)(10 + site) };
	const struct frame_name jit = { "LazyCompile:~f", NULL, 0 };
	const struct frame frames[] = {
		{ FRAME_NATIVE, 0, 0x7f0000001000 + site, 0x1000 + 16 * site, NULL },
		{ FRAME_RUBY, MODULE_NONE, 0, 0, NULL, name_pool_keep(run->names, &ruby) },
		{ FRAME_JIT, MODULE_NONE, 0x7f1100000000, 0, NULL,
		  name_pool_keep(run->names, &jit) },
		{ FRAME_NATIVE, 1, 0x7f2200000fff, 0x2fff, NULL },
		{ FRAME_NATIVE, 1, 0x7f2200000500, 0x500, NULL, NULL, false, true },
		{ FRAME_ERROR, MODULE_NONE, 0, 0, "code without unwind tables" },
	};
	struct stack *stack = memory_alloc(1, sizeof(*stack) + sizeof(frames));

	/* The last site has none. */
	stack->count = site == RUN_SITES - 1 ? 0 : 6;
	memcpy(stack->frames, frames, stack->count * sizeof(frames[0]));
	return stack;
}

static inline struct run *run_new(void)
{
	struct run *run = memory_alloc(1, sizeof(*run));
	uint64_t i;

	run->names = name_pool_new();
	run_add_module(run, "/srv/app/lib/parser.so", 0xab);
	run_add_module(run, "/usr/lib/li\nb\xff.so", 0);
	run->targets[0] = (struct target){ .pid = 4242, .pidfd = -1, .comm = "ruby" };
	run->targets[0].exe = memory_copy_string("/usr/bin/ruby3.1");
	run->targets[0].directory = memory_copy_string("/srv/app");
	run->targets[1] = (struct target){ .pid = 4243, .pidfd = -1, .parent = 4242 };
	strcpy(run->targets[1].comm, "my w\x1b:1");
	run->functions[0] = (struct function_name){ "glibc", "malloc" };
	run->functions[1] = (struct function_name){ "jemalloc", "otel_memory:alloc", true };
	for (i = 0; i < RUN_SITES; i++)
		run->stacks[i] = run_stack(run, i);
	return run;
}

static inline void run_free(struct run *run)
{
	size_t i;

	for (i = 0; i < RUN_SITES; i++)
		stack_free(run->stacks[i]);
	target_clear(&run->targets[0]);
	target_clear(&run->targets[1]);
	module_list_free(&run->modules);
	name_pool_free(run->names);
	free(run);
}

/* What a site has allocated and freed by a second. False if there is no such site then. */
static inline bool run_stats(uint64_t site, uint64_t second, struct site_stats *ret_stats)
{
	uint64_t blocks = site == 0   ? second
			  : site == 1 ? (second < 20 ? second : 20)
			  : site % 2  ? 100
				      : 5 + second / 10;
	struct site_stats stats = { .alloc_objects = blocks + site * 3,
				    .free_objects = site * 3,
				    .gcs = site == 2 ? second / 100 : 0,
				    .gcs_known = site == 2 };
	uint64_t i;

	if ((site == 5 && second % 4 == 3) || (site == 6 && second > 50))
		return false;
	stats.alloc_bytes = stats.alloc_objects * (16 + site);
	stats.free_bytes = stats.free_objects * (16 + site);
	/* One block is born at each second; of those that rest, at the first ones. */
	for (i = 0; i < blocks; i++) {
		uint64_t age = (site % 2 || site > 1 ? second : second - i) * RUN_SECOND + i * i;

		stats.age_sum_ns += age;
		if (age > stats.oldest_ns)
			stats.oldest_ns = age;
	}
	if (site == 4) {
		stats.samples = 3;
		stats.grown_objects = stats.grown_times = second / 30;
	}
	*ret_stats = stats;
	return true;
}

static inline void run_add_site(struct run *run, struct snapshot *snapshot, uint64_t site,
				uint64_t second)
{
	struct snapshot_site row = {
		/* Two sites may have one key: an ended one's, a live one's. */
		.key = site == 1 && second > RUN_ENDS ? 1000 : 1000 + site,
		.target = &run->targets[site % 2],
		.function = &run->functions[site == 4],
		.source = site == 3 ? SOURCE_MMAP : SOURCE_HEAP,
		.region = site == 2 && second > 15 ? REGION_RUBY_HEAP : REGION_NONE,
		.stack = run->stacks[site],
		.ended = site % 2 && second > RUN_ENDS,
		.sampled = site == 4,
	};

	if (!run_stats(site, second, &row.stats))
		return;
	if (site == 3)
		row.stats.measured_bytes = row.stats.alloc_bytes - row.stats.free_bytes;
	snapshot_add_site(snapshot, &row);
}

/* The snapshot at a second. Free with snapshot_free. */
static inline struct snapshot *run_snapshot(struct run *run, uint64_t second)
{
	struct snapshot *snapshot = snapshot_new();
	uint64_t i;

	snapshot->start_ns = RUN_BEGIN;
	snapshot->time_ns = RUN_BEGIN + second * RUN_SECOND;
	snapshot->wall_time = 1767225600 + (int64_t)second;
	snapshot->id_seed = 0xfedcba9876543210;
	snapshot->loss[LOSS_FREE_UNTRACKED] = second / 7;
	snapshot->loss[LOSS_COUNT - 1] = 3;
	snapshot->price = (struct price){ .counted = second > 3, .calls = 99, .window_ns = 1000 };
	snapshot_set_modules(snapshot, &run->modules);
	snapshot_hold_names(snapshot, run->names);
	run->targets[0].usage = (struct target_usage){ .known = true,
						       .rss_bytes = second << 12,
						       .pss_known = second % 3 == 0,
						       .pss_bytes = second % 3 ? 0 : second << 11 };
	if (second == 9 && !run->targets[0].late) {
		lateness_add_file(&run->targets[0].late, "/late\n.so", 5);
		lateness_add_child(&run->targets[0].late, 7);
	}
	run->targets[1].exited = second > RUN_ENDS;
	snapshot_add_target(snapshot, &run->targets[1]);
	snapshot_add_target(snapshot, &run->targets[0]);
	for (i = 0; i < RUN_SITES; i++)
		run_add_site(run, snapshot, i, second);
	return snapshot;
}

/* All that a report has of a snapshot. Free with free(). */
static inline char *run_render_with(const struct snapshot *snapshot,
				    const struct report_options *options,
				    const struct report_names *names, const char *format)
{
	const struct render_options style = { .schema = 1, .verbose = true, .paths = true };
	struct report *report = report_build(snapshot, options, names);
	struct buffer text = { 0 };

	buffer_append_string(&text, "");
	render_format_find(format)->render(report, &style, &text);
	report_free(report);
	return text.data;
}

static inline char *run_render(const struct snapshot *snapshot, const struct report_names *names,
			       const char *format)
{
	const struct report_options options = { .top = 0 };

	return run_render_with(snapshot, &options, names, format);
}

#endif
