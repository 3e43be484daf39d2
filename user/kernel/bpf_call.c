/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See bpf_call.h. */
#include "kernel/bpf_call.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/link_task.h"

#define UPROBE_MULTI_RETURN 1

/* The part of union bpf_attr for BPF_LINK_CREATE with uprobes. */
struct link_uprobes {
	uint32_t program;
	uint32_t target;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t reference_counters;
	uint64_t cookies;
	uint32_t count;
	uint32_t uprobe_flags;
	uint32_t pid;
	uint32_t unused;
};

static long bpf_call(enum bpf_cmd command, void *attributes, size_t size)
{
	long result = syscall(SYS_bpf, command, attributes, size);

	return result < 0 ? -errno : result;
}

static int link_create(void *attributes)
{
	return (int)bpf_call(BPF_LINK_CREATE, attributes, sizeof(struct link_uprobes));
}

int bpf_call_link_uprobes(const struct uprobe_multi *probes)
{
	struct link_uprobes attributes = {
		.program = (uint32_t)probes->program,
		.attach_type = probes->attach_type,
		.offsets = (uintptr_t)probes->offsets,
		.cookies = (uintptr_t)probes->cookies,
		.reference_counters = (uintptr_t)probes->semaphores,
		.count = (uint32_t)probes->count,
		.uprobe_flags = probes->returns ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)probes->pid,
	};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", probes->file);
	attributes.path = (uintptr_t)path;
	return link_task_run(link_create, &attributes);
}

int bpf_call_load_empty(uint32_t attach_type)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attributes;

	memset(&attributes, 0, sizeof(attributes));
	attributes.prog_type = BPF_PROG_TYPE_KPROBE;
	attributes.expected_attach_type = attach_type;
	attributes.insns = (uintptr_t)code;
	attributes.insn_cnt = sizeof(code) / sizeof(code[0]);
	attributes.license = (uintptr_t) "GPL";
	return (int)bpf_call(BPF_PROG_LOAD, &attributes, sizeof(attributes));
}
