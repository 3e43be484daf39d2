/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_types.h. The type of a tracepoint's probes is "btf_trace_NAME", a pointer to a function. */
#include "kernel/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct kernel_types {
	struct btf *btf;
};

int kernel_types_open(struct kernel_types **ret_types, struct error *error)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int code = btf ? 0 : -errno;

	if (code)
		return error_set(error, ERROR_PERMISSION, code,
				 "the kernel's types cannot be read from /sys/kernel/btf/vmlinux "
				 "(%s): mount /sys (mount -t sysfs sys /sys), or boot a kernel "
				 "with CONFIG_DEBUG_INFO_BTF",
				 strerror(-code));
	*ret_types = memory_alloc(1, sizeof(**ret_types));
	(*ret_types)->btf = btf;
	return 0;
}

void kernel_types_free(struct kernel_types *types)
{
	if (!types)
		return;
	btf__free(types->btf);
	free(types);
}

/* What a type is without its names and qualifiers. */
static const struct btf_type *kernel_types_plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

/* The function of a tracepoint's probes; NULL = there is none. */
static const struct btf_type *kernel_types_probe(const struct btf *btf, const char *event)
{
	char name[96];
	const struct btf_type *type;
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	type = id > 0 ? kernel_types_plain(btf, (uint32_t)id) : NULL;
	if (!type || !btf_is_ptr(type))
		return NULL;
	type = btf__type_by_id(btf, type->type);
	return type && btf_is_func_proto(type) ? type : NULL;
}

void kernel_types_find_event(void *context, const char *event,
			     struct kernel_arguments *ret_arguments)
{
	const struct kernel_types *types = context;
	const struct btf_type *probe = kernel_types_probe(types->btf, event), *type;
	const struct btf_param *params;
	int64_t bytes;
	int i;

	*ret_arguments = (struct kernel_arguments){ 0 };
	if (!probe)
		return;
	params = btf_params(probe);
	/* The first one is what the probe was registered with. */
	for (i = 1; i < btf_vlen(probe) && i <= KERNEL_ARGUMENTS_MAX; i++) {
		type = kernel_types_plain(types->btf, params[i].type);
		bytes = btf__resolve_size(types->btf, params[i].type);
		ret_arguments->items[i - 1].is_pointer = type && btf_is_ptr(type);
		ret_arguments->items[i - 1].bytes = bytes > 0 ? (size_t)bytes : 0;
		ret_arguments->count++;
	}
}

size_t kernel_types_page_bytes(const struct kernel_types *types)
{
	int id = btf__find_by_name_kind(types->btf, "page", BTF_KIND_STRUCT);
	int64_t bytes = id > 0 ? btf__resolve_size(types->btf, (uint32_t)id) : 0;

	return bytes > 0 ? (size_t)bytes : 0;
}
