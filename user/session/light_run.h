/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --light is made of, for the session: looks at heaps, what is known of the blocks of sites, and probes inside of functions. */
#ifndef SESSION_LIGHT_RUN_H
#define SESSION_LIGHT_RUN_H

#include "session/core.h"
#include "session/light.h"
#include "session/light_plan.h"
#include "session/light_verify.h"

/* {0} is a session without --light: nothing is done. */
struct light_run {
	struct light light;
	struct light_sites sites;
	struct light_verify verify;
};

struct bpf_programs;

/* `light.on` and `light.most_blocks` are set. */
void light_run_connect(struct light_run *run, struct core *core, struct bpf_programs *programs,
		       const struct maps *maps, const struct log *log);

/* Can what is in use be read from the heaps of all processes? If not, returns -ENOTSUP with `error` filled. */
int light_run_check(const struct light_run *run, struct error *error);

void light_run_start(struct light_run *run);
void light_run_stop(struct light_run *run);

/* Do what is due, and add to `next` when there is more. */
void light_run_poll(struct light_run *run);
void light_run_add_deadlines(const struct light_run *run, uint64_t *next);

/*
 * Was nothing verified since then? For a moment both kinds of probes are there, which is dearer than either. What takes longer, as where
 * hardly anything is called, does not count.
 */
bool light_run_is_settled(const struct light_run *run, uint64_t since_ns);

/* What a snapshot has of it; NULL without --light. Free with light_report_free. */
struct light_report *light_run_report(const struct light_run *run);

#endif
