/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pprof format: a heap profile as Go's tools, Pyroscope, Parca and others read it. A site is a sample; its stack begins with the
 * caller of the allocator function, which is a label, so that the first function is the one to blame.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/report_verdict.h"
#include "model/source.h"
#include "render/formats.h"
#include "render/frame_text.h"
#include "render/notes.h"
#include "render/pprof_writer.h"

static int64_t pprof_value(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static void pprof_values(struct pprof_sample *sample, const struct site_stats *stats)
{
	sample->values[PPROF_alloc_objects] = pprof_value(stats->alloc_objects);
	sample->values[PPROF_alloc_space] = pprof_value(stats->alloc_bytes);
	sample->values[PPROF_inuse_objects] = pprof_value(site_stats_inuse_objects(stats));
	sample->values[PPROF_inuse_space] = pprof_value(site_stats_inuse_bytes(stats));
}

/* One process by its pid, several by how many they are. */
static void pprof_process(struct pprof_sample *sample, const struct report_site *site, char pid[16])
{
	if (site->process_count > 1) {
		pprof_sample_number(sample, "processes", site->process_count, "count");
	} else {
		snprintf(pid, 16, "%d", site->pid);
		pprof_sample_label(sample, "pid", pid);
	}
	pprof_sample_label(sample, "comm", site->target->comm);
}

static void pprof_site(struct pprof_writer *writer, const struct report *report,
		       const struct report_site *site)
{
	struct pprof_sample sample = { .frames = site->frames, .frame_count = site->frame_count };
	struct buffer leaf = { 0 };
	char pid[16];

	pprof_values(&sample, &site->stats);
	if (frame_text_append_leaf(&leaf, site))
		sample.leaf = leaf.data;
	pprof_process(&sample, site, pid);
	pprof_sample_label(&sample, "source", source_name(site->source));
	pprof_sample_label(&sample, "allocator", site->allocator);
	pprof_sample_label(&sample, "function", site->function);
	pprof_sample_label(&sample, "region", region_name(site->region));
	if (report_verdict_is_known(&report->options) && site->verdict.word != VERDICT_NONE)
		pprof_sample_label(&sample, "verdict", verdict_name(site->verdict.word));
	if (site->sampled || site->estimate.known)
		pprof_sample_label(&sample, "estimated", "true");
	if (site_stats_inuse_objects(&site->stats))
		pprof_sample_number(&sample, "age", site_stats_mean_age_ns(&site->stats),
				    "nanoseconds");
	pprof_writer_add(writer, &sample);
	buffer_free(&leaf);
}

static void pprof_comment(void *context, const char *sentence)
{
	pprof_writer_add_comment(context, sentence);
}

void render_pprof(const struct report *report, const struct render_options *options,
		  struct buffer *out)
{
	const char *main_path = report->target_count ? report->targets[0]->exe : NULL;
	struct pprof_writer writer;
	struct report_site site;
	size_t i;

	pprof_writer_begin(&writer, out);
	pprof_writer_set_time(&writer, report->wall_time, report->duration_ns);
	notes_of_report(report, pprof_comment, &writer);
	for (i = 0; i < report->site_count && render_drain(options, out); i++) {
		if (report->sites[i].ended)
			continue;
		site = report_open_site(report, i);
		pprof_site(&writer, report, &site);
		report_close_site(&site);
	}
	pprof_writer_end(&writer, main_path);
}
