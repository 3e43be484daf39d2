/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots with known contents for the tests of reports and formats. Names come from a table, so that no
 * symbolizer takes part: a frame's address is an index into `names`.
 */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "analyze/report.h"
#include "base/memory.h"
#include "render/render.h"

#define SAMPLE_SECOND 1000000000ULL
#define SAMPLE_MAX 64

/* The symbols of the frames with one address; functions inlined there come first. */
struct sample_name {
	struct symbol items[2];
	size_t count;
};

struct sample {
	struct snapshot snapshot;
	struct snapshot_site sites[SAMPLE_MAX];
	struct target targets[4];
	const struct target *target_pointers[4];
	struct module_list modules;
	struct stack *stacks[SAMPLE_MAX];
	size_t stack_count;
	struct symbol_list lists[SAMPLE_MAX];
	struct sample_name names[SAMPLE_MAX];
	size_t name_count;
};

static const struct function_name sample_malloc = { "glibc", "malloc" };
static const struct function_name sample_new = { "jemalloc", "operator new(unsigned long)" };
static const __attribute__((
	unused)) struct function_name sample_publisher = { "jemalloc", "otel_memory:alloc", true };
static const struct function_name sample_mmap = { "glibc", "mmap" };

static const struct symbol_list *sample_lookup(void *context, const struct frame *frame)
{
	struct sample *sample = context;
	struct sample_name *name = &sample->names[frame->address];

	sample->lists[frame->address] = (struct symbol_list){ name->count, name->items };
	return &sample->lists[frame->address];
}

static struct report_names sample_names(struct sample *sample)
{
	return (struct report_names){ sample_lookup, sample };
}

static struct sample *sample_new_empty(size_t targets)
{
	struct sample *sample = memory_alloc(1, sizeof(*sample));
	size_t i;

	for (i = 0; i < 4; i++) {
		sample->targets[i] = (struct target){ .pid = 4242 + (int)i, .pidfd = -1 };
		sample->target_pointers[i] = &sample->targets[i];
	}
	strcpy(sample->targets[0].comm, "ruby");
	strcpy(sample->targets[1].comm, "my worker:1");
	sample->targets[0].exe = (char *)"/usr/bin/ruby3.1";
	sample->targets[0].directory = (char *)"/srv/app";
	sample->snapshot = (struct snapshot){
		.start_ns = 5 * SAMPLE_SECOND,
		.time_ns = 35 * SAMPLE_SECOND,
		.wall_time = 1767225600, /* 2026-01-01T00:00:00Z by date(1) */
		.targets = sample->target_pointers,
		.target_count = targets,
		.sites = sample->sites,
		.modules = &sample->modules,
	};
	return sample;
}

static void sample_free(struct sample *sample)
{
	size_t i;

	for (i = 0; i < sample->stack_count; i++)
		free(sample->stacks[i]);
	module_list_free(&sample->modules);
	free(sample);
}

static __attribute__((unused)) uint32_t sample_module(struct sample *sample, const char *path,
						      unsigned char build_id_byte)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(path);
	module->fd = -1;
	module->build_id_size = build_id_byte ? 4 : 0;
	memset(module->build_id, build_id_byte, 4);
	return module_list_add(&sample->modules, module);
}

/* A name for frames: returns its address. */
static uint64_t sample_name(struct sample *sample, const char *function, const char *file,
			    uint32_t line)
{
	struct sample_name *name = &sample->names[sample->name_count];

	name->items[0] = (struct symbol){ function, file, line, false };
	name->count = 1;
	return sample->name_count++;
}

/* The same with a function that is inlined into it. */
static __attribute__((unused)) uint64_t sample_inlined(struct sample *sample, const char *inlined,
						       const char *function, const char *file,
						       uint32_t line)
{
	uint64_t address = sample_name(sample, function, file, line);
	struct sample_name *name = &sample->names[address];

	name->items[1] = name->items[0];
	name->items[0] = (struct symbol){ inlined, file, line + 100, true };
	name->count = 2;
	return address;
}

static struct stack *sample_stack(struct sample *sample, const struct frame *frames, size_t count)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + count * sizeof(*frames));

	stack->count = (uint32_t)count;
	if (count)
		memcpy(stack->frames, frames, count * sizeof(*frames));
	sample->stacks[sample->stack_count++] = stack;
	return stack;
}

static struct snapshot_site *sample_site(struct sample *sample, size_t target,
					 const struct function_name *function,
					 const struct stack *stack, struct site_stats stats)
{
	struct snapshot_site *site = &sample->sites[sample->snapshot.site_count++];

	*site = (struct snapshot_site){
		.key = sample->snapshot.site_count,
		.target = &sample->targets[target],
		.function = function,
		.stack = stack,
		.stats = stats,
	};
	return site;
}

/* All listed sites with their frames. */
static __attribute__((unused)) struct report_site *sample_open_sites(const struct report *report)
{
	struct report_site *sites = memory_alloc(report->site_count, sizeof(*sites));
	size_t i;

	for (i = 0; i < report->site_count; i++)
		sites[i] = report_open_site(report, i);
	return sites;
}

static __attribute__((unused)) void sample_close_sites(struct report_site *sites, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		report_close_site(&sites[i]);
	free(sites);
}

static __attribute__((unused)) char *sample_render(const struct report *report, const char *format,
						   const struct render_options *options)
{
	struct buffer out = { 0 };

	buffer_append_string(&out, "");
	render_format_find(format)->render(report, options, &out);
	return out.data;
}

/*
 * What a Ruby server with a leak in a C++ extension looks like: the sample that the expected outputs in
 * tests/data/render are written for.
 */
static __attribute__((unused)) struct sample *sample_server(void)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t ext = sample_module(sample, "/srv/app/vendor/gems/parser-2.1/lib/parser.so", 0xab);
	uint32_t ruby = sample_module(sample, "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", 0xcd);
	uint32_t libc = sample_module(sample, "/usr/lib/x86_64-linux-gnu/libc.so.6", 0);
	struct frame leak[] = {
		{ FRAME_NATIVE, ext, 0, 0x1234, NULL },	  { FRAME_NATIVE, ext, 1, 0x2000, NULL },
		{ FRAME_NATIVE, ruby, 2, 0x3000, NULL },  { FRAME_RUBY, MODULE_NONE, 3, 0, NULL },
		{ FRAME_NATIVE, libc, 4, 0x2724a, NULL }, { FRAME_NATIVE, libc, 5, 0x27305, NULL },
	};
	struct frame cache[] = {
		{ FRAME_NATIVE, ruby, 6, 0x4000, NULL },
		{ FRAME_JIT, MODULE_NONE, 7, 0, NULL },
		{ FRAME_ERROR, MODULE_NONE, 0, 0, "no unwind information" },
	};
	struct frame map[] = { { FRAME_NATIVE, ruby, 2, 0x3000, NULL } };
	struct snapshot_site *site;

	sample_inlined(sample, "Arena::grow(std::size_t)", "Parser::intern(std::string const&)",
		       "/build/parser-2.1/ext/parser/parser.cc", 88);
	sample_name(sample, "rb_parser_parse", "/build/parser-2.1/ext/parser/binding.cc", 40);
	sample_name(sample, "vm_call_cfunc_with_frame", "./vm_insnhelper.c", 3037);
	sample_name(sample, "ReportsController#index", "app/controllers/reports_controller.rb", 12);
	sample_name(sample, NULL, NULL, 0);
	sample_name(sample, "__libc_start_main", NULL, 0);
	sample_name(sample, "st_init_table_with_size", "./st.c", 601);
	sample_name(sample, NULL, NULL, 0);
	site = sample_site(sample, 0, &sample_new, sample_stack(sample, leak, 6),
			   (struct site_stats){ 52428800, 51200, 1228800, 1200 });
	site->stats.oldest_ns = 29 * SAMPLE_SECOND + 800000000;
	site->stats.age_sum_ns = 50000 * 15 * SAMPLE_SECOND;
	site = sample_site(sample, 0, &sample_malloc, sample_stack(sample, cache, 3),
			   (struct site_stats){ 1048576, 4096, 524288, 2048 });
	site->stats.oldest_ns = 1500000000;
	site->stats.age_sum_ns = 2048 * SAMPLE_SECOND / 2;
	site = sample_site(sample, 0, &sample_mmap, sample_stack(sample, map, 1),
			   (struct site_stats){ 8192, 2, 8192, 2 });
	site->source = SOURCE_MMAP;
	sample->snapshot.loss[LOSS_FREE_UNTRACKED] = 12;
	return sample;
}

/* The same, where the extension's allocator publishes samples. */
static __attribute__((unused)) struct sample *sample_server_sampled(void)
{
	struct sample *sample = sample_server();

	sample->sites[0].function = &sample_publisher;
	sample->sites[0].sampled = true;
	sample->sites[0].stats.samples = 97;
	return sample;
}

/* As the symbolizer has it, but for what is known: a hostile name, and a sentence of more than a line. */
static __attribute__((unused)) const char *sample_hint(void *context, const struct frame *frame)
{
	(void)context;
	return frame->module ? "libc.so.6 has no symbols: libc6-dbg or --debuginfod may have them"
			     : "ext\x1b[2J\n.so has no symbols: an unstripped file of build ID "
			       "abababababababababababababababababababab in --debug-dir would have "
			       "them";
}

/* Rows with code without names: first, first, behind an exported function, behind a line; and one without any. */
static __attribute__((unused)) struct sample *sample_nameless(void)
{
	struct sample *sample = sample_new_empty(1);
	uint32_t ext = sample_module(sample, "/srv/app/ext.so", 0xab);
	uint32_t libc = sample_module(sample, "/usr/lib/x86_64-linux-gnu/libc.so.6", 0xcd);
	uint64_t nameless = sample_name(sample, NULL, NULL, 0);
	uint64_t exported = sample_name(sample, "exported", NULL, 0);
	uint64_t line = sample_name(sample, "serve", "/srv/app/serve.c", 12);
	struct frame rows[][2] = {
		{ { FRAME_NATIVE, ext, nameless, 1, NULL }, { FRAME_NATIVE, ext, line, 9, NULL } },
		{ { FRAME_NATIVE, ext, nameless, 2, NULL }, { FRAME_NATIVE, ext, line, 9, NULL } },
		{ { FRAME_NATIVE, ext, exported, 3, NULL },
		  { FRAME_NATIVE, libc, nameless, 4, NULL } },
		{ { FRAME_NATIVE, ext, line, 9, NULL }, { FRAME_NATIVE, ext, nameless, 5, NULL } },
		{ { FRAME_NATIVE, ext, exported, 3, NULL },
		  { FRAME_ERROR, MODULE_NONE, 0, 0, "no unwind information" } },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		sample_site(sample, 0, &sample_malloc, sample_stack(sample, rows[i], 2),
			    (struct site_stats){ 5000 - i * 1000, 1, 0, 0 });
	return sample;
}

#endif
