/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See light_run.h. */
#include "session/light_run.h"

#include "base/deadline.h"

void light_run_connect(struct light_run *run, struct core *core, struct bpf_programs *programs,
		       const struct maps *maps, const struct log *log)
{
	run->sites = (struct light_sites){ &core->files.plan, &core->sites };
	run->light.maps = maps;
	run->light.processes = &core->processes;
	run->light.blocks_of = light_plan_blocks_of_site;
	run->light.context = &run->sites;
	run->verify =
		(struct light_verify){ .programs = programs, .probes = &core->probes, .log = log };
	core->collect.light = run->light.on ? &run->light : NULL;
}

int light_run_check(const struct light_run *run, struct error *error)
{
	int code = run->light.on ? light_plan_check(run->sites.plan, error) : 0;

	return code ? code : light_check_all(&run->light, error);
}

void light_run_start(struct light_run *run)
{
	if (!run->light.on)
		return;
	light_start(&run->light);
	light_verify_start(&run->verify);
}

void light_run_stop(struct light_run *run)
{
	run->light.next_ns = 0;
	light_verify_stop(&run->verify);
}

void light_run_poll(struct light_run *run)
{
	light_poll(&run->light);
	light_verify_poll(&run->verify);
}

void light_run_add_deadlines(const struct light_run *run, uint64_t *next)
{
	deadline_add(next, run->light.next_ns);
	deadline_add(next, run->verify.next_ns);
}

bool light_run_is_settled(const struct light_run *run, uint64_t since_ns)
{
	return light_verify_is_settled(&run->verify, since_ns);
}

struct light_report *light_run_report(const struct light_run *run)
{
	struct light_report *report;

	if (!run->light.on)
		return NULL;
	report = light_report_make(&run->light);
	report->inside = run->verify.reading == LIGHT_INSIDE;
	return report;
}
