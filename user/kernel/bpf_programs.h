/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs and their maps, loaded: which of them, with which settings, so that they need nothing that the running kernel
 * does not have.
 */
#ifndef KERNEL_BPF_PROGRAMS_H
#define KERNEL_BPF_PROGRAMS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/attach.h"
#include "kernel/features.h"
#include "kernel/maps.h"
#include "tracer_abi.h"

struct tracer_bpf;
struct bpf_programs;

/* What the BPF programs are for. */
struct bpf_settings {
	struct kernel_features features;
	enum backend backend;
	uint64_t max_blocks, max_stacks; /* entries of the maps */
	uint64_t stack_depth; /* frames */
	uint64_t min_size, max_size; /* bytes: other blocks are not recorded */
	uint32_t processes; /* that are expected at a time, each with 160 KB of unwind tables */
	bool functions; /* functions are probed */
	bool samples, only_samples; /* record what programs publish; and nothing else by default */
	bool named; /* functions were named on the command line */
	bool machine_wide; /* a probe is for all processes that map its file */
	bool by_thread; /* sites of threads with different names are apart */
	bool light; /* frees are not probed */
	bool by_frame_pointers; /* stacks are not walked by unwind tables */
	pid_t stop_process; /* is stopped where it ends itself; 0 = none is */
};

/* Load. Returns 0, or a negative errno with `error` filled. Free with bpf_programs_free. */
int bpf_programs_load(const struct bpf_settings *settings, struct bpf_programs **ret_programs,
		      struct error *error);

/* Accepts NULL. Probes that were attached with the BPF programs stay until their links are closed. */
void bpf_programs_free(struct bpf_programs *programs);

/* The maps; valid as long as the BPF programs. */
const struct maps *bpf_programs_maps(const struct bpf_programs *programs);

/* Which program each kind of probe runs. */
struct attach_programs bpf_programs_to_attach(const struct bpf_programs *programs);

/* What is recorded from now on: the first word that each program reads. Accepts NULL. */
void bpf_programs_record(struct bpf_programs *programs, enum recording what);
bool bpf_programs_are_recording(const struct bpf_programs *programs);

/* Begin or stop to count what runs at each probe, and for how long: MAPS_HITS. */
void bpf_programs_measure(struct bpf_programs *programs, bool on);

/* Hits since it was begun to measure; from `most` of them on RECORD_ALL is RECORD_ENDS, 0 = no limit. */
void bpf_programs_limit_hits(struct bpf_programs *programs, uint64_t most);
uint64_t bpf_programs_hits(const struct bpf_programs *programs);

/* Calls of functions that are probed inside, and whose return is probed as well. */
struct inside_counts {
	uint64_t right, wrong; /* their result was the one that was seen inside, or was not */
	uint64_t open; /* seen inside, and they are going to return */
};

struct inside_counts bpf_programs_inside(const struct bpf_programs *programs);

/* Let calls be recorded by probes inside of functions, not by returns. */
void bpf_programs_record_inside(struct bpf_programs *programs);

/* Let no process hold more stacks and sites than are free, or one have them all. */
void bpf_programs_share(struct bpf_programs *programs, bool on);

/*
 * What the targets hold, SHARES_MAX entries: by target_id, and at SHARE_OF_ALL the sum. BPF programs add what they
 * store at any time; who removes sites subtracts them atomically. Valid as long as the BPF programs.
 */
struct share *bpf_programs_shares(const struct bpf_programs *programs);

/* The BPF programs' counter of a loss. */
uint64_t bpf_programs_loss(const struct bpf_programs *programs, enum loss loss);

/* Probe hits for which the kernel ran no program. */
uint64_t bpf_programs_missed(const struct bpf_programs *programs);

/* For the other parts of user/kernel. */
struct tracer_bpf *bpf_programs_skeleton(const struct bpf_programs *programs);

/* Descriptors of maps that others read by themselves, and the word that is set if there is an interpreter. */
int bpf_programs_events(const struct bpf_programs *programs);
int bpf_programs_interp_processes(const struct bpf_programs *programs);
int bpf_programs_interp_codes(const struct bpf_programs *programs);
uint32_t *bpf_programs_interp_any(const struct bpf_programs *programs);

#endif
