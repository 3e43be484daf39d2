/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See features.h. */
#include "kernel/features.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernel/bpf_call.h"
#include "kernel/perf_probe.h"
#include "system/privilege.h"

const char *backend_name(enum backend backend)
{
	static const char *const names[BACKEND_KERNEL_COUNT] = { "session", "multi", "perf",
								 "ioctl" };

	return backend < BACKEND_KERNEL_COUNT ? names[backend] : "unknown";
}

/*
 * Does the kernel link a program of this attach type to uprobes? Asked with a folder for a file: a kernel that knows such
 * links gets as far as refusing it with EBADF. Linking in earnest would cost two periods of grace.
 */
static bool backend_works(uint32_t attach_type)
{
	const uint64_t offset = 0, cookie = 0;
	struct uprobe_multi probes = {
		.attach_type = attach_type,
		.offsets = &offset,
		.cookies = &cookie,
		.count = 1,
	};
	int link = -EINVAL;

	probes.program = bpf_call_load_empty(attach_type);
	if (probes.program < 0)
		return false;
	probes.file = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (probes.file >= 0) {
		link = bpf_call_link_uprobes(&probes);
		close(probes.file);
	}
	close(probes.program);
	return link == -EBADF;
}

/* Programs for uprobes get cookies from perf links since the kernel has links for perf events. */
static bool perf_links_work(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) == 1;
}

static int features_refuse(int code, struct error *error)
{
	if (code == -EPERM || code == -EACCES)
		return privileges_refuse(STEP_LOAD, code, error);
	return error_set(
		error, ERROR_PERMISSION, code,
		"the kernel cannot load BPF programs for uprobes (%s): it must be built with "
		"CONFIG_BPF_SYSCALL, CONFIG_UPROBE_EVENTS and CONFIG_BPF_EVENTS",
		strerror(-code));
}

/* Before Linux 5.11, programs and maps count as locked memory. Where that is not so, it does not matter if this fails. */
static void features_lift_limit(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &none);
}

int kernel_features_probe(struct kernel_features *ret_features, struct error *error)
{
	struct kernel_features features = { .traps = probe_features_running() };
	int program;

	features_lift_limit();
	program = bpf_call_load_empty(0);
	if (program < 0)
		return features_refuse(program, error);
	close(program);
	features.backends[BACKEND_KERNEL_SESSION] = backend_works(ATTACH_UPROBE_SESSION);
	features.backends[BACKEND_KERNEL_MULTI] = backend_works(ATTACH_UPROBE_MULTI);
	features.backends[BACKEND_KERNEL_PERF] = perf_links_work();
	features.backends[BACKEND_KERNEL_IOCTL] = perf_probe_works();
	features.task_storage =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_task_storage_get, NULL) == 1;
	/* This helper, which takes a function, came just after global functions could take memory. */
	features.callbacks = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE,
						     BPF_FUNC_for_each_map_elem, NULL) == 1;
	features.functions = features.callbacks;
	*ret_features = features;
	return 0;
}

/*
 * The kernels that need this way of attaching lack more. Who asks for it wants to see that it all
 * works. Those kernels find a mapping in a tree that later ones have not: callbacks stay.
 */
static void features_feign_old_kernel(struct kernel_features *features)
{
	features->task_storage = false;
	features->functions = false;
}

int backend_choose(struct kernel_features *features, const enum backend *wanted,
		   enum backend *ret_backend, struct error *error)
{
	enum backend backend = 0;

	if (wanted && *wanted == BACKEND_KERNEL_IOCTL)
		features_feign_old_kernel(features);
	while (!wanted && backend < BACKEND_KERNEL_COUNT && !features->backends[backend])
		backend++;
	*ret_backend = wanted ? *wanted : backend;
	if (*ret_backend < BACKEND_KERNEL_COUNT && features->backends[*ret_backend])
		return 0;
	if (wanted)
		return error_set(error, ERROR_PERMISSION, -ENOTSUP,
				 "--backend %s: not supported by this kernel",
				 backend_name(*wanted));
	return error_set(error, ERROR_PERMISSION, -ENOTSUP,
			 "this kernel cannot attach BPF programs to uprobes: it must be built with "
			 "CONFIG_UPROBE_EVENTS and CONFIG_PERF_EVENTS");
}
