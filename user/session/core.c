/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See core.h. */
#include "session/core.h"

void core_init(struct core *core)
{
	core->processes.epoll = -1;
	core->events.epoll = -1;
	core->events.timer = -1;
	core->probes.parts = PROBES_ALL;
}

static void core_connect_probes(struct core *core, const struct core_base *base)
{
	core->notices.log = base->log;
	core->files.modules = base->modules;
	core->files.maps = base->maps;
	core->files.notices = &core->notices;
	core->probes.files = &core->files;
	core->probes.modules = base->modules;
	core->returns.probes = &core->probes;
	core->returns.processes = &core->processes;
	core->returns.log = base->log;
	core->late.notices = &core->notices;
	core->scan.modules = base->modules;
	core->scan.probes = &core->probes;
	core->scan.returns = &core->returns;
	core->scan.late = &core->late;
	core->scan.log = base->log;
}

static void core_connect_events(struct core *core, const struct core_base *base)
{
	core->follow.processes = &core->processes;
	core->follow.scan = &core->scan;
	core->follow.filters = &core->filters;
	core->follow.ended = &core->ended;
	core->follow.jit_names = base->jit_names;
	core->follow.maps = base->maps;
	core->follow.log = base->log;
	core->events.follow = &core->follow;
	core->events.reader = &core->reader;
	core->events.mappings = base->mappings;
}

static void core_connect_sites(struct core *core, const struct core_base *base)
{
	core->reader.maps = base->maps;
	core->reader.processes = &core->processes;
	core->reader.sites = &core->sites;
	core->reader.scan = &core->scan;
	core->reader.ended = &core->ended;
	core->reader.jit_names = base->jit_names;
	core->reader.notices = &core->notices;
	core->collect.maps = base->maps;
	core->collect.shares = base->shares;
	core->collect.events = &core->events;
	core->collect.reader = &core->reader;
	core->collect.mappings = base->mappings;
	core->regions.processes = &core->processes;
	core->regions.sites = &core->sites;
	core->regions.mappings = base->mappings;
}

void core_connect(struct core *core, const struct core_base *base)
{
	core_connect_probes(core, base);
	core_connect_events(core, base);
	core_connect_sites(core, base);
}

void core_free(struct core *core)
{
	sites_free(&core->sites);
	follow_free(&core->follow);
	late_free(&core->late);
	probe_set_free(&core->probes);
	planned_files_free(&core->files);
	process_table_close(&core->processes);
	ended_free(&core->ended);
}
