/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See compat_functions.h. */
#include "kernel/compat_functions.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/*
 * A function that is only ever an argument is not reached by any call, which those kernels refuse: call it where its
 * address was taken. Both forms encode its place in the same way.
 */
static void compat_functions_code(struct bpf_insn *code, size_t count)
{
	size_t i;

	for (i = 0; i + 1 < count; i++) {
		if (code[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (code[i].src_reg == BPF_PSEUDO_FUNC) {
			code[i] = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
						     .src_reg = BPF_PSEUDO_CALL,
						     .imm = code[i].imm };
			code[i + 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
		}
		i++;
	}
}

static int compat_functions_before_load(struct bpf_program *program,
					struct bpf_prog_load_opts *options, long cookie)
{
	size_t count = bpf_program__insn_cnt(program);
	struct bpf_insn *code = memory_alloc(count, sizeof(*code));
	int error;

	(void)options;
	(void)cookie;
	memcpy(code, bpf_program__insns(program), count * sizeof(*code));
	compat_functions_code(code, count);
	error = bpf_program__set_insns(program, code, count);
	free(code);
	return error;
}

/* Does a function of this type take memory? */
static bool compat_functions_takes_memory(const struct btf *btf, const struct btf_type *prototype)
{
	const struct btf_param *parameters = btf_params(prototype);
	const struct btf_type *type;
	uint16_t i;

	for (i = 0; i < btf_vlen(prototype); i++) {
		type = btf__type_by_id(btf, parameters[i].type);
		if (type && btf_is_ptr(type))
			return true;
	}
	return false;
}

/* Functions that take memory become static ones. The types are libbpf's copy, which it hands to the kernel. */
void compat_functions_object(const struct bpf_object *object)
{
	struct btf *btf = bpf_object__btf(object);
	uint32_t i, count = btf ? btf__type_cnt(btf) : 0;
	const struct btf_type *prototype;
	struct btf_type *type;

	for (i = 1; i < count; i++) {
		type = (struct btf_type *)btf__type_by_id(btf, i);
		if (!type || !btf_is_func(type) || btf_vlen(type) != BTF_FUNC_GLOBAL)
			continue;
		prototype = btf__type_by_id(btf, type->type);
		if (prototype && compat_functions_takes_memory(btf, prototype))
			type->info = (uint32_t)BTF_KIND_FUNC << 24 | BTF_FUNC_STATIC;
	}
}

void compat_functions_begin(struct compat_functions *compat)
{
	static const char *const sections[COMPAT_SECTIONS] = { "uprobe", "uretprobe" };
	LIBBPF_OPTS(libbpf_prog_handler_opts, options,
		    .prog_prepare_load_fn = compat_functions_before_load);
	size_t i;

	for (i = 0; i < COMPAT_SECTIONS; i++)
		compat->handlers[i] = libbpf_register_prog_handler(
			sections[i], BPF_PROG_TYPE_KPROBE, 0, &options);
}

void compat_functions_end(const struct compat_functions *compat)
{
	size_t i;

	for (i = 0; i < COMPAT_SECTIONS; i++)
		if (compat->handlers[i] > 0)
			libbpf_unregister_prog_handler(compat->handlers[i]);
}
