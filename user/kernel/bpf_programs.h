/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads the BPF programs and their maps, selecting programs and settings that the running kernel
 * supports.
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

/* Settings of the BPF programs. */
struct bpf_settings {
	struct kernel_features features;
	enum backend backend;
	uint64_t max_blocks, max_stacks; /* entries of the maps */
	uint64_t stack_depth; /* frames */
	uint64_t min_size, max_size; /* bytes: other blocks are not recorded */
	/* Expected number of processes at a time; each takes 160 KB of unwind tables */
	uint32_t processes;
	bool functions; /* functions are probed */
	bool samples, only_samples; /* record USDT samples; and by default nothing else */
	bool named; /* functions were named on the command line */
	bool machine_wide; /* probes apply to all processes that map their file */
	bool by_thread; /* separate sites by thread name */
	bool light; /* frees are not probed */
	bool by_frame_pointers; /* stacks are not walked by unwind tables */
	pid_t stop_process; /* stop this process when it ends itself; 0 = none */
};

/* Load. Returns 0, or a negative errno with `error` filled. Free with bpf_programs_free. */
int bpf_programs_load(const struct bpf_settings *settings, struct bpf_programs **ret_programs,
		      struct error *error);

/* Accepts NULL. Probes with these programs stay attached until their links are closed. */
void bpf_programs_free(struct bpf_programs *programs);

/* The maps; valid as long as the BPF programs. */
const struct maps *bpf_programs_maps(const struct bpf_programs *programs);

/* The program for each kind of probe. */
struct attach_programs bpf_programs_to_attach(const struct bpf_programs *programs);

/* Set what is recorded: the first word that each program reads. Accepts NULL. */
void bpf_programs_record(struct bpf_programs *programs, enum recording what);
bool bpf_programs_are_recording(const struct bpf_programs *programs);

/* Start or stop counting runs and run time at each probe: MAPS_HITS. */
void bpf_programs_measure(struct bpf_programs *programs, bool on);

/*
 * Limit the hits since measuring began: from `most` on, RECORD_ALL acts as RECORD_ENDS; 0 = no
 * limit. bpf_programs_hits returns their number.
 */
void bpf_programs_limit_hits(struct bpf_programs *programs, uint64_t most);
uint64_t bpf_programs_hits(const struct bpf_programs *programs);

/* Calls of functions probed both inside and at their return. */
struct inside_counts {
	uint64_t right, wrong; /* whose result was equal to the one seen inside, or not */
	uint64_t open; /* seen inside, not returned yet */
};

struct inside_counts bpf_programs_inside(const struct bpf_programs *programs);

/* Record calls at probes inside functions, not at returns. */
void bpf_programs_record_inside(struct bpf_programs *programs);

/* Limit each process to as many stacks and sites as are free, or lift the limit. */
void bpf_programs_share(struct bpf_programs *programs, bool on);

/*
 * What the targets hold, SHARES_MAX entries: by target_id, and at SHARE_OF_ALL the sum. BPF
 * programs add what they store at any time; code that removes sites must subtract atomically. Valid
 * as long as the BPF programs.
 */
struct share *bpf_programs_shares(const struct bpf_programs *programs);

/* The BPF programs' counter of a loss. */
uint64_t bpf_programs_loss(const struct bpf_programs *programs, enum loss loss);

/* Probe hits for which the kernel ran no program. */
uint64_t bpf_programs_missed(const struct bpf_programs *programs);

/* For other files of user/kernel. */
struct tracer_bpf *bpf_programs_skeleton(const struct bpf_programs *programs);

/*
 * Descriptors of maps that other parts access directly, and the word that is set if there is an
 * interpreter.
 */
int bpf_programs_events(const struct bpf_programs *programs);
int bpf_programs_interp_processes(const struct bpf_programs *programs);
int bpf_programs_interp_codes(const struct bpf_programs *programs);
uint32_t *bpf_programs_interp_any(const struct bpf_programs *programs);

#endif
