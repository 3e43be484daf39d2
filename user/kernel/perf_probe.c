/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See perf_probe.h. */
#include "kernel/perf_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "kernel/link_task.h"
#include "tracer_abi.h"

#define EVENT_SOURCE "/sys/bus/event_source/devices/uprobe/"

/* A number from a file of the event source's, behind `prefix`. Returns a negative errno if there is none. */
static int perf_probe_number(const char *path, const char *prefix)
{
	FILE *file = fopen(path, "re");
	char line[64] = "", *end;
	long number = -1;

	if (!file)
		return -errno;
	if (fgets(line, sizeof(line), file) && !strncmp(line, prefix, strlen(prefix)))
		number = strtol(line + strlen(prefix), &end, 10);
	fclose(file);
	return number < 0 || number > INT_MAX ? -EINVAL : (int)number;
}

bool perf_probe_works(void)
{
	return perf_probe_number(EVENT_SOURCE "type", "") >= 0;
}

/* The offset of a semaphore has the upper half of a word of the event. */
static int perf_probe_set_semaphore(const struct perf_probe *probe,
				    struct perf_event_attr *attributes)
{
	if (!probe->semaphore)
		return 0;
	if (probe->semaphore >> 32 ||
	    perf_probe_number(EVENT_SOURCE "format/ref_ctr_offset", "config:") != 32)
		return -EINVAL;
	attributes->config |= probe->semaphore << 32;
	return 0;
}

/* What is probed, as the kernel wants it; `path` must outlive it. Returns 0 or a negative errno. */
static int perf_probe_describe(const struct perf_probe *probe, const char *path,
			       struct perf_event_attr *ret_attributes)
{
	int type = perf_probe_number(EVENT_SOURCE "type", "");
	int bit = perf_probe_number(EVENT_SOURCE "format/retprobe", "config:");

	if (type < 0 || bit < 0 || bit > 63)
		return -EOPNOTSUPP;
	*ret_attributes = (struct perf_event_attr){
		.size = sizeof(*ret_attributes),
		.type = (uint32_t)type,
		.config = probe->returns ? 1ULL << bit : 0,
		.config1 = (uintptr_t)path,
		.config2 = probe->offset,
	};
	return perf_probe_set_semaphore(probe, ret_attributes);
}

/* The link holds the event. */
static int perf_probe_link(const struct perf_probe *probe, int event)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = probe->cookie);
	int link = bpf_link_create(probe->program, event, BPF_PERF_EVENT, &options), code;

	if (link < 0 || !ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		return link;
	code = -errno;
	close(link);
	return code;
}

struct perf_attach {
	const struct perf_probe *probe;
	struct perf_event_attr attributes;
};

/* Work of a task of its own. */
static int perf_attach_run(void *context)
{
	struct perf_attach *attach = context;
	const struct perf_probe *probe = attach->probe;
	int event = (int)syscall(SYS_perf_event_open, &attach->attributes, probe->pid, -1, -1,
				 PERF_FLAG_FD_CLOEXEC);
	int code;

	if (event < 0)
		return -errno;
	if (probe->program < 0)
		return event;
	if (probe->linked) {
		code = perf_probe_link(probe, event);
		close(event);
		return code;
	}
	if (!ioctl(event, PERF_EVENT_IOC_SET_BPF, probe->program) &&
	    !ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		return event;
	code = -errno;
	close(event);
	return code;
}

int perf_probe_attach(const struct perf_probe *probe)
{
	struct perf_attach attach = { .probe = probe };
	char path[64];
	int code;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", probe->file);
	code = perf_probe_describe(probe, path, &attach.attributes);
	return code ? code : link_task_run(perf_attach_run, &attach);
}

/* Write the cookie over every COOKIE_PLACEHOLDER. False if there is none. */
static bool perf_probe_set_cookie(struct bpf_insn *code, size_t count, uint64_t cookie)
{
	bool found = false;
	size_t i;

	for (i = 0; i + 1 < count; i++) {
		if (code[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (!code[i].src_reg && (uint32_t)code[i].imm == (uint32_t)COOKIE_PLACEHOLDER &&
		    (uint32_t)code[i + 1].imm == (uint32_t)(COOKIE_PLACEHOLDER >> 32)) {
			code[i].imm = (int32_t)(uint32_t)cookie;
			code[i + 1].imm = (int32_t)(uint32_t)(cookie >> 32);
			found = true;
		}
		i++;
	}
	return found;
}

int perf_probe_load_copy(const struct bpf_program *program, uint64_t cookie)
{
	size_t count = bpf_program__insn_cnt(program);
	struct bpf_insn *code = memory_alloc(count, sizeof(*code));
	int fd = -ENOEXEC;

	memcpy(code, bpf_program__insns(program), count * sizeof(*code));
	if (perf_probe_set_cookie(code, count, cookie))
		fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, bpf_program__name(program), "GPL", code,
				   count, NULL);
	free(code);
	return fd;
}
