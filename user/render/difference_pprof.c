/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference as pprof reads it: the values are those of the last profile less those of the first one, and may be below 0. */
#include "model/source.h"
#include "render/difference.h"
#include "render/difference_view.h"
#include "render/formats.h"
#include "render/frame_text.h"
#include "render/notes.h"
#include "render/pprof_writer.h"

/* Not beyond the limits of either. */
static int64_t pprof_less(uint64_t last, uint64_t first)
{
	if (last >= first)
		return last - first < INT64_MAX ? (int64_t)(last - first) : INT64_MAX;
	return first - last < INT64_MAX ? -(int64_t)(first - last) : -INT64_MAX;
}

static void pprof_difference_values(struct pprof_sample *sample, const struct difference_site *site,
				    size_t last)
{
	const struct profile_figures *from = &site->figures[0], *to = &site->figures[last];

	sample->values[PPROF_inuse_objects] = site->growth_objects;
	sample->values[PPROF_inuse_space] = site->growth_bytes;
	/* What is in a profile as a whole has allocated nothing where it is not listed. */
	if (!site->known[0] || !site->listed[last])
		return;
	sample->values[PPROF_alloc_objects] = pprof_less(to->alloc_objects, from->alloc_objects);
	sample->values[PPROF_alloc_space] = pprof_less(to->alloc_bytes, from->alloc_bytes);
}

static void pprof_difference_site(struct pprof_writer *writer, const struct difference *difference,
				  const struct difference_site *site)
{
	struct difference_view view;
	struct pprof_sample sample = { 0 };
	struct buffer leaf = { 0 };

	difference_view_open(&view, site);
	sample.frames = view.site.frames;
	sample.frame_count = view.site.frame_count;
	pprof_difference_values(&sample, site, difference->profile_count - 1);
	if (frame_text_append_leaf(&leaf, &view.site))
		sample.leaf = leaf.data;
	pprof_sample_label(&sample, "comm", view.target.comm);
	pprof_sample_label(&sample, "source", source_name(view.site.source));
	pprof_sample_label(&sample, "allocator", view.site.allocator);
	pprof_sample_label(&sample, "function", view.site.function);
	pprof_sample_label(&sample, "region", region_name(view.site.region));
	pprof_sample_label(&sample, "change", difference_word(site->word));
	if (view.site.sampled)
		pprof_sample_label(&sample, "estimated", "true");
	pprof_writer_add(writer, &sample);
	buffer_free(&leaf);
	difference_view_close(&view);
}

static void pprof_difference_comment(void *context, const char *sentence)
{
	pprof_writer_add_comment(context, sentence);
}

void render_difference_pprof(const struct difference *difference,
			     const struct render_difference_options *options, struct buffer *out)
{
	const size_t top = options->top ? options->top : difference->site_count;
	const struct profile *last = difference->profiles[difference->profile_count - 1];
	struct pprof_writer writer;
	size_t i;

	pprof_writer_begin(&writer, out);
	pprof_writer_set_time(&writer, last->wall_time, last->duration_ns);
	notes_of_difference(difference, pprof_difference_comment, &writer);
	for (i = 0; i < difference->site_count && i < top && render_drain(&options->base, out); i++)
		if (difference->sites[i].word != DIFFERENCE_UNKNOWN)
			pprof_difference_site(&writer, difference, &difference->sites[i]);
	pprof_writer_end(&writer, NULL);
}
