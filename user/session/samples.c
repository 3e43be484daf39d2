/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a session that is about programs which tell of samples of what they allocate, by USDT probes: which tables
 * that takes, where the samples stand, and whose their stacks are.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "session/parts.h"
#include "tracer.skel.h"

/* Samples that can be held: a part of --max-blocks, but some at least. */
#define SAMPLES_SHARE 16
#define SAMPLES_LEAST 65536

bool session_samples(const struct session *session)
{
	return session->options.usdt != USDT_OFF;
}

bool session_probes_functions(const struct session *session)
{
	const struct named_list *named = session->options.named;

	return session->options.usdt != USDT_ONLY || (named && named->count);
}

/* Samples are few: each of the kernel's buckets for one takes 16 bytes, whether there is a sample or not. */
void session_set_up_samples(struct session *session)
{
	const struct session_options *options = &session->options;
	struct tracer_bpf *bpf = session->bpf;
	uint64_t room = options->max_blocks / SAMPLES_SHARE;

	if (room < SAMPLES_LEAST)
		room = SAMPLES_LEAST;
	if (room > options->max_blocks || options->usdt == USDT_ONLY)
		room = options->max_blocks;
	bpf_map__set_max_entries(bpf->maps.samples, (uint32_t)room);
	if (!session_probes_functions(session))
		bpf_map__set_max_entries(bpf->maps.blocks, 1);
	if (session_samples(session))
		return;
	bpf_map__set_autocreate(bpf->maps.samples, false);
	bpf_map__set_autocreate(bpf->maps.sample_sites, false);
}

void session_set_samples(struct session *session, struct planned_file *file)
{
	const struct plan_probe *probes = session->plan.probes + file->first;
	uint32_t key;
	size_t i;

	for (i = 0; i < file->count; i++) {
		if (!plan_probe_is_sample(&probes[i]))
			continue;
		file->samples = true;
		key = SHAPE_SAMPLE_KEY(probes[i].shape);
		bpf_map_update_elem(bpf_map__fd(session->bpf->maps.sample_sites), &key,
				    &probes[i].sample, BPF_ANY);
	}
}

static bool session_is_inside(const void *context, uint32_t module, uint64_t offset)
{
	return plan_is_in_allocator(context, module, offset);
}

void session_drop_allocator(const struct session *session, struct known_site *site)
{
	const struct plan *plan = &session->plan;

	if (site->record.function < plan->function_count &&
	    plan->functions[site->record.function].sampled)
		site_table_drop_inner(site, session_is_inside, plan);
}
