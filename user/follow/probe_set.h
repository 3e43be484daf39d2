/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of a session: which files are probed in which processes, held by links. A divided set
 * can be attached and detached in parts, repeatedly, while its processes run: only frees, or only
 * allocations. Files and processes that come while a part is detached get that part when it is
 * attached.
 *
 * An attached part sees all calls that begin afterwards. While frees are detached, freed blocks
 * stay recorded until their address is returned again; while allocations are detached, frees of
 * their blocks count as free_untracked.
 */
#ifndef FOLLOW_PROBE_SET_H
#define FOLLOW_PROBE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "discover/process.h"
#include "kernel/attach.h"
#include "kernel/detach_queue.h"
#include "follow/planned_files.h"

/*
 * Parts of the probes. The exits of a function belong to every part that probes functions with a
 * result.
 */
enum probe_part {
	PROBES_FREES = 1, /* functions that only free; ends of samples and of interpreters' code */
	PROBES_REALLOCS = 2, /* functions that free and allocate */
	PROBES_ALLOCATIONS = 4, /* functions that only allocate; samples */
	PROBES_MAPPINGS = 8, /* mmap, munmap, mremap */
	PROBES_INSIDE = 16, /* inside allocating functions */
	PROBES_VERIFIED =
		32, /* entry and return of these functions, used to verify the probes inside */
	PROBES_ALL = 63,
};

/* Groups of links: one for each part, or one for all probes if the set is not divided. */
#define PROBE_GROUPS 7

/* A file that is probed in a process. */
struct probed_file {
	uint32_t module; /* index of the planned file */
	struct process *process; /* NULL = in all processes */
	bool failed; /* it could not be probed; the message was written */
	struct attachment links[PROBE_GROUPS];
};

/* A single instruction that is probed in a process; it belongs to PROBES_FREES. */
struct probed_point {
	uint32_t module;
	const struct process *process;
	uint64_t offset, cookie;
	const char *symbol; /* a static string */
	struct attachment link;
};

struct probe_set {
	struct planned_files *files;
	struct module_list *modules;
	struct attach_how how;
	bool machine_wide; /* files are probed for all processes at once */
	bool divided;
	/*
	 * Nothing is recorded before all parts are attached, so frequently hit probes are attached
	 * last, whatever they do. A file is left out if any of its freeing functions cannot be
	 * probed: its blocks would seem to live.
	 */
	bool in_windows;
	unsigned int parts; /* PROBES_* that are attached */
	struct probed_file *probed;
	size_t count, capacity;
	struct probed_point *points;
	size_t point_count, point_capacity;
	struct detach_queue *detach_queue; /* NULL = not started, or it could not be */
	uint64_t refused; /* as the loss probes_refused */
	/* Files not probed because their file server may not answer the kernel */
	uint64_t unprobed;
};

/* Free the set; does not detach: see probe_set_close. */
void probe_set_free(struct probe_set *set);

/*
 * Probe `file`, which `process` maps as `module`, unless it is probed there already. Returns 1 if
 * it was probed now, 0 if there was nothing to do, or a negative errno with `error` filled: -ESTALE
 * if the probes do not reach the process, -ESRCH if it has ended. On error no probe stays attached,
 * except for -ESTALE.
 */
int probe_set_probe(struct probe_set *set, struct process *process, const struct planned_file *file,
		    uint32_t module, struct error *error);

/*
 * `file` was planned anew: attach its probes but the first `kept`, which are attached, in the processes in which it is probed.
 */
void probe_set_add_planned(struct probe_set *set, const struct planned_file *file, size_t kept);

/* Close the links of functions whose return is probed, those of ended processes too; returns when that is done. */
void probe_set_close_calls(struct probe_set *set);

/* Probe one more instruction of a module in a process. Returns 0 or a negative errno with `error` filled. */
int probe_set_probe_point(struct probe_set *set, const struct probed_point *point,
			  struct error *error);

/*
 * Attach detached parts (PROBES_*): the frees of all files first. Leaves out functions that the
 * kernel has refused, and ended processes. Returns 0, or the first negative errno with `error`
 * filled: -EINVAL for a part of a set that is not divided; in windows, -ENOTSUP if the kernel has
 * just refused a probe without which a file is left out.
 */
int probe_set_attach(struct probe_set *set, unsigned int parts, struct error *error);

/*
 * Detach parts, all at once. When this returns, none of their probes runs any more. Returns 0 or
 * -EINVAL, as probe_set_attach does.
 */
int probe_set_detach(struct probe_set *set, unsigned int parts);

/*
 * Begin to detach parts without waiting. Returns NULL, or what link_task_close_end must wait for
 * before anything else ends.
 */
struct link_closing *probe_set_detach_begin(struct probe_set *set, unsigned int parts);

/* Was a file probed successfully in a process? `process` NULL: in all processes. */
bool probe_set_has(const struct probe_set *set, uint32_t module, const struct process *process);

/* Should this probe of the plan be present in the code of the processes now? */
bool probe_set_expects(const struct probe_set *set, const struct plan_probe *probe);

/* Is anything probed in a process? */
bool probe_set_has_any(const struct probe_set *set, const struct process *process);

/* Does the process map a file that is probed in it? */
bool probe_set_covers(const struct probe_set *set, const struct process *process);

/* From now on, close the links of ended processes in a thread of their own. */
void probe_set_start_detach_queue(struct probe_set *set);

/* Number of links of ended processes that are not closed yet. */
size_t probe_set_closing(const struct probe_set *set);

/* The process has ended: queue its links for closing. */
void probe_set_end(struct probe_set *set, const struct process *process);

/*
 * The process is no longer probed: queue its links for closing, or close them before returning
 * (`now`).
 */
void probe_set_forget(struct probe_set *set, const struct process *process, bool now);

/* Begin to detach all probes, in the thread of ended processes; none must be attached any more. */
void probe_set_close_begin(struct probe_set *set);

/* Detach all probes; returns when that is done. The lists of what was probed stay. */
void probe_set_close(struct probe_set *set);

#endif
