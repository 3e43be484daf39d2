/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of --light: looks at heaps, what is known of the blocks of sites, and the verification
 * of probes inside functions.
 */
#ifndef SESSION_LIGHT_RUN_H
#define SESSION_LIGHT_RUN_H

#include "session/core.h"
#include "windows/light.h"
#include "windows/light_plan.h"
#include "windows/light_verify.h"

/* {0} = no --light: all functions do nothing. */
struct light_run {
	struct light light;
	struct light_sites sites;
	struct light_verify verify;
};

struct bpf_programs;

/* Set all pointers. The caller has set `light.on` and `light.most_blocks`. */
void light_run_connect(struct light_run *run, struct core *core, struct bpf_programs *programs,
		       const struct maps *maps, const struct log *log);

/*
 * Can the blocks in use be read from the heaps of all processes? If not, returns -ENOTSUP with
 * `error` filled.
 */
int light_run_check(const struct light_run *run, struct error *error);

void light_run_start(struct light_run *run);
void light_run_stop(struct light_run *run);

/* Do what is due. light_run_add_deadlines lowers `*next` to the time of the next call. */
void light_run_poll(struct light_run *run);
void light_run_add_deadlines(const struct light_run *run, uint64_t *next);

/*
 * Was no verification under way since `since_ns`? During one, both kinds of probes are attached,
 * which costs more than either alone. A verification that takes long, because hardly anything is
 * called, does not count.
 */
bool light_run_is_settled(const struct light_run *run, uint64_t since_ns);

/* The report for a snapshot; NULL without --light. Free with light_report_free. */
struct light_report *light_run_report(const struct light_run *run);

#endif
