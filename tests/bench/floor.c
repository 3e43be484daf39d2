/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least that exact tracing can cost: programs that do nothing, at the instructions that the
 * tracer would probe (`floor PID site`) or at the functions' entries (`floor PID entry`). What
 * allocates gets session programs, which run at entry and return; what frees gets plain ones.
 * `floor PID stackid` has the kernel take the stack at each return. Says "ready" when every probe
 * is in; ends with its stdin.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "discover/process.h"
#include "kernel/bpf_call.h"
#include "probe/plan.h"
#include "tracer_abi.h"

/* A program that calls bpf_get_stackid. Returns a descriptor or a negative errno. */
static int floor_load_stackid(void)
{
	int map = bpf_map_create(BPF_MAP_TYPE_STACK_TRACE, NULL, sizeof(uint32_t),
				 127 * sizeof(uint64_t), 65536, NULL);
	const struct bpf_insn code[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K,
		  .dst_reg = BPF_REG_3,
		  .imm = BPF_F_USER_STACK },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stackid },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = ATTACH_UPROBE_MULTI);

	return map < 0 ? map
		       : bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", code,
				       sizeof(code) / sizeof(code[0]), &options);
}

/* Link a program to all probes of a file that have a result, or that have none. Returns 0 or a negative errno. */
static int floor_link(const struct plan *plan, size_t first, pid_t pid, int file, bool frees,
		      bool stackid)
{
	uint64_t *offsets = memory_alloc(plan->count + 1, sizeof(*offsets));
	uint64_t *cookies = memory_alloc(plan->count + 1, sizeof(*cookies));
	struct uprobe_multi link = { .attach_type = frees ? ATTACH_UPROBE_MULTI
							  : ATTACH_UPROBE_SESSION,
				     .file = file,
				     .pid = pid,
				     .offsets = offsets,
				     .cookies = cookies };
	size_t i;
	int code = 0;

	for (i = first; i < plan->count; i++) {
		if ((SHAPE_OP(plan->probes[i].shape) == CALL_FREE) != frees)
			continue;
		offsets[link.count] = plan->probes[i].site_offset;
		cookies[link.count++] = plan->probes[i].shape;
	}
	if (stackid && !frees) {
		link.attach_type = ATTACH_UPROBE_MULTI;
		link.returns = true;
		link.program = floor_load_stackid();
	} else {
		link.program = bpf_call_load_empty(link.attach_type);
	}
	if (link.count)
		code = link.program < 0 ? link.program : bpf_call_link_uprobes(&link);
	free(offsets);
	free(cookies);
	return code < 0 ? code : 0;
}

static int floor_probe_module(struct plan *plan, uint32_t index, pid_t pid, bool stackid)
{
	const struct module *module = module_list_get(plan->modules, index);
	struct elf_file *elf = module->fd < 0 ? NULL : elf_file_open(module->fd, NULL);
	size_t first = plan->count;
	int code;

	if (!elf)
		return 0;
	plan_add_file(plan, index, elf);
	elf_file_close(elf);
	if (plan->count == first)
		return 0;
	code = floor_link(plan, first, pid, module->fd, true, stackid);
	return code ? code : floor_link(plan, first, pid, module->fd, false, stackid);
}

static int floor_probe(pid_t pid, bool at_entry, bool stackid)
{
	struct plan_options options = { .features = probe_features_running(),
					.free_without_stack = true,
					.at_entry = at_entry };
	struct module_list modules = { 0 };
	struct error error = { 0 };
	struct process *process;
	struct plan plan;
	uint32_t i;
	int code = process_open(pid, &process, &error);

	if (code)
		return code;
	code = process_scan(process, &modules, 0);
	plan_init(&plan, &modules, &options);
	for (i = 0; i < modules.count && !code; i++)
		code = floor_probe_module(&plan, i, pid, stackid);
	if (!code && !plan.count)
		code = -ENOENT;
	plan_free(&plan);
	module_list_free(&modules);
	process_free(process);
	return code;
}

int main(int argc, char **argv)
{
	char byte;
	int code;

	if (argc != 3)
		return 2;
	code = floor_probe(atoi(argv[1]), !strcmp(argv[2], "entry"), !strcmp(argv[2], "stackid"));
	if (code) {
		fprintf(stderr, "floor: %s\n", strerror(-code));
		return 1;
	}
	fprintf(stderr, "ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return 0;
}
