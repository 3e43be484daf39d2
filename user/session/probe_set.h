/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of a session: which files are probed in which processes, held by links. A set that is divided can be attached and
 * detached in parts, again and again, while its processes run: only what frees, only what allocates. What comes while a part is
 * detached gets that part when it is attached.
 *
 * A part that is attached sees all calls that begin afterwards. While frees are detached, blocks that are freed stay recorded
 * until their address is returned again; while what allocates is detached, frees of its blocks are free_untracked.
 */
#ifndef SESSION_PROBE_SET_H
#define SESSION_PROBE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "discover/process.h"
#include "kernel/attach.h"
#include "kernel/detach_queue.h"
#include "session/planned_files.h"

/* Parts of the probes. The exits of functions belong to each part with functions that have a result. */
enum probe_part {
	PROBES_FREES = 1, /* functions that only free; ends of samples, of interpreters' code */
	PROBES_REALLOCS = 2, /* functions that free and allocate */
	PROBES_ALLOCATIONS = 4, /* functions that only allocate; samples */
	PROBES_MAPPINGS = 8, /* mmap, munmap, mremap */
	PROBES_INSIDE = 16, /* inside of functions that allocate */
	PROBES_VERIFIED =
		32, /* entry and return of these functions, which are the truth for what is seen inside */
	PROBES_ALL = 63,
};

/* Links of a part, or of all probes where the set is not divided. */
#define PROBE_GROUPS 7

/* A file that is probed in a process. */
struct probed_file {
	uint32_t module; /* of the planned file */
	struct process *process; /* NULL = in all processes */
	bool failed; /* it could not be probed, and the message was written */
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
	 * Nothing is recorded before all parts are attached. So those that are hit often are attached last, whatever they do; and a
	 * file of which not all that frees can be probed is left out, since its blocks would look as if they lived.
	 */
	bool in_windows;
	unsigned int parts; /* PROBES_*: those that are attached */
	struct probed_file *probed;
	size_t count, capacity;
	struct probed_point *points;
	size_t point_count, point_capacity;
	struct detach_queue *detach_queue; /* NULL until it is started, or if there can be none */
	uint64_t refused; /* as the loss probes_refused */
	uint64_t unprobed; /* files whose servers may not answer the kernel */
};

/* Free what is left without taking probes out: see probe_set_close. */
void probe_set_free(struct probe_set *set);

/*
 * Probe what `file`, which `process` maps as `module`, defines, unless it is probed there. Returns
 * 1 if it has been now, 0 if there was nothing to do, or a negative errno with `error` filled:
 * -ESTALE if the probes do not reach the process, -ESRCH if it has ended. No probe is left in place
 * then, but for -ESTALE.
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
 * Attach parts (PROBES_*) that are detached: the frees of all files first. Functions that the
 * kernel has refused are left out, and so are processes that have ended. Returns 0, or the first
 * negative errno with `error` filled: -EINVAL for a part of a set that is not divided; in windows, -ENOTSUP if a file was
 * refused a probe just now without which it is left out.
 */
int probe_set_attach(struct probe_set *set, unsigned int parts, struct error *error);

/* Detach parts, all at the same time. Returns when no probe of theirs runs any more; 0 or -EINVAL, as probe_set_attach. */
int probe_set_detach(struct probe_set *set, unsigned int parts);

/* Begin to: probes are on their way out when this returns. NULL or what link_task_close_end waits for, before all else ends. */
struct link_closing *probe_set_detach_begin(struct probe_set *set, unsigned int parts);

/* Is a file probed in a process, without failure? NULL process: in all. */
bool probe_set_has(const struct probe_set *set, uint32_t module, const struct process *process);

/* Is a probe of the plan to be found in the code of the processes now? */
bool probe_set_expects(const struct probe_set *set, const struct plan_probe *probe);

/* Is anything probed in a process? */
bool probe_set_has_any(const struct probe_set *set, const struct process *process);

/* Does the process map a file that is probed in it? */
bool probe_set_covers(const struct probe_set *set, const struct process *process);

/* Let links of ended processes be closed beside everything else from now on. */
void probe_set_start_detach_queue(struct probe_set *set);

/* Links of ended processes that are yet to be closed. */
size_t probe_set_closing(const struct probe_set *set);

/* The process has ended: its links are closed, soon. */
void probe_set_end(struct probe_set *set, const struct process *process);

/* The process is not probed any more: its links, if there are any, are closed, soon; or, with `now`, before this returns. */
void probe_set_forget(struct probe_set *set, const struct process *process, bool now);

/* Take all probes out; returns when that is done. The lists of what was probed stay. */
void probe_set_close(struct probe_set *set);

#endif
