/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops the process that user space has started for that, where it is about to end itself: its memory is still there, and nothing in it
 * runs any more. A signal stops it before its next instruction, and user space lets it go on.
 */
#ifndef PROCESS_END_BPF_H
#define PROCESS_END_BPF_H

#include "maps.bpf.h"

#define SIGSTOP 19

/* Neither a child, nor one that shares its memory. */
static __always_inline bool process_end_is_wanted(void)
{
	struct bpf_pidns_info ids = { 0 };

	return !bpf_get_ns_current_pid_tgid(setting_namespace_device, setting_namespace_inode, &ids,
					    sizeof(ids)) &&
	       ids.tgid == setting_stop_process;
}

/* Nobody would let a process go on whose stop was not reported. */
static __always_inline void process_end_stop(__u64 shape)
{
	struct event_process_end *event;

	if (!recording || !process_end_is_wanted())
		return;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		loss_add(LOSS_EVENTS_DROPPED, 1);
		return;
	}
	event->kind = EVENT_PROCESS_END;
	event->target_id = SHAPE_TARGET(shape);
	if (bpf_send_signal(SIGSTOP))
		bpf_ringbuf_discard(event, 0);
	else
		bpf_ringbuf_submit(event, 0);
}

/*
 * Is a process to end here? Then it is stopped, if it is the one. Of its own stack: that of the caller is in the longest chain of calls, which
 * has none to spare.
 */
static __noinline bool process_end_enter(struct pt_regs *ctx)
{
	const __u64 shape = probe_shape(ctx);

	if (SHAPE_OP(shape) != CALL_PROCESS_END)
		return false;
	process_end_stop(shape);
	return true;
}

#endif
