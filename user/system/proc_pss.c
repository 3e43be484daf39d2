/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/smaps_rollup: see proc.h. */
#include "system/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "system/end_signals.h"
#include "system/proc_text.h"

#define PSS_PATIENCE_NS 200000000

struct pss_call {
	struct timed_call call;
	pid_t pid;
	int status;
	uint64_t bytes;
};

/* Take the number of kilobytes from the rest of a line. */
static bool pss_parse_number(const char *at, const char *end, uint64_t *ret_bytes)
{
	uint64_t number;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (!proc_take_number(&at, end, 10, &number) || number > UINT64_MAX / 1024)
		return false;
	*ret_bytes = number * 1024;
	return true;
}

bool proc_parse_pss(const char *text, size_t length, uint64_t *ret_bytes)
{
	static const char key[] = "Pss:";
	const char *end = text + length, *line_end;

	for (; text < end; text = line_end + 1) {
		line_end = memchr(text, '\n', (size_t)(end - text));
		if (!line_end)
			line_end = end;
		if ((size_t)(line_end - text) >= strlen(key) && !memcmp(text, key, strlen(key)))
			return pss_parse_number(text + strlen(key), line_end, ret_bytes);
		if (line_end == end)
			break;
	}
	return false;
}

static void pss_call_run(struct timed_call *call)
{
	struct pss_call *pss = (struct pss_call *)call;
	struct buffer text = { 0 };

	pss->status = proc_read_text("/proc", pss->pid, "smaps_rollup", &text);
	if (!pss->status && !proc_parse_pss(text.data ? text.data : "", text.length, &pss->bytes))
		pss->status = -ENODATA;
	buffer_free(&text);
}

static void pss_call_free(struct timed_call *call)
{
	free(call);
}

int proc_read_pss_within(pid_t pid, struct call_patience *patience, uint64_t *ret_bytes)
{
	struct pss_call *pss = memory_alloc(1, sizeof(*pss));
	int status;

	*pss = (struct pss_call){ .call = { pss_call_run, pss_call_free }, .pid = pid };
	if (!patience->full_ns)
		patience->full_ns = (uint64_t)PSS_PATIENCE_NS * end_signals_slowness();
	status = timed_call_run(&pss->call, patience);
	if (status)
		return status;
	status = pss->status;
	if (!status)
		*ret_bytes = pss->bytes;
	free(pss);
	return status;
}
