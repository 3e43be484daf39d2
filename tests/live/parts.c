/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session whose probes are attached and detached in parts: parts BACKEND PID. BACKEND is session, multi, perf, ioctl or auto.
 * Reads commands, one a line, and answers each with one line of JSON:
 *   attach PARTS, detach PARTS    PARTS as a number (enum probe_part); answers with the time that it took
 *   report                        counters by function, and losses that are not 0
 * Ends when its input does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "decode/decoder.h"
#include "decode/fork_server.h"
#include "decode/worker.h"
#include "model/loss.h"
#include "session/session.h"

struct sums {
	const char *function;
	struct site_stats stats;
};

static int fail(const struct error *error)
{
	fprintf(stderr, "parts: %s\n", error->text);
	return 1;
}

static void answer_time(uint64_t begin_ns, int code)
{
	printf("{\"code\": %d, \"ns\": %llu}\n", code,
	       (unsigned long long)(clock_now_ns() - begin_ns));
}

static struct sums *sums_of(struct sums *sums, size_t *count, const char *function)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (!strcmp(sums[i].function, function))
			return &sums[i];
	sums[*count] = (struct sums){ .function = function };
	return &sums[(*count)++];
}

static int answer_report(struct session *session)
{
	struct snapshot *snapshot;
	struct sums sums[256];
	size_t count = 0, i;

	if (session_snapshot(session, &snapshot))
		return -1;
	for (i = 0; i < snapshot->site_count && count < 256; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];
		struct sums *sum = sums_of(sums, &count, site->function->function);

		sum->stats.alloc_bytes += site->stats.alloc_bytes;
		sum->stats.alloc_objects += site->stats.alloc_objects;
		sum->stats.free_bytes += site->stats.free_bytes;
		sum->stats.free_objects += site->stats.free_objects;
	}
	printf("{\"functions\": {");
	for (i = 0; i < count; i++)
		printf("%s\"%s\": [%llu, %llu, %llu, %llu]", i ? ", " : "", sums[i].function,
		       (unsigned long long)sums[i].stats.alloc_objects,
		       (unsigned long long)sums[i].stats.alloc_bytes,
		       (unsigned long long)sums[i].stats.free_objects,
		       (unsigned long long)sums[i].stats.free_bytes);
	printf("}, \"losses\": {");
	for (i = 0, count = 0; i < LOSS_COUNT; i++)
		if (snapshot->loss[i])
			printf("%s\"%s\": %llu", count++ ? ", " : "", loss_name((enum loss)i),
			       (unsigned long long)snapshot->loss[i]);
	printf("}}\n");
	snapshot_free(snapshot);
	return 0;
}

static int run(struct session *session)
{
	struct error error = { 0 };
	char line[64];
	uint64_t begin_ns;
	unsigned int parts;

	printf("{\"backend\": \"%s\"}\n", backend_name(session_backend(session)));
	while (fgets(line, sizeof(line), stdin)) {
		session_drain(session);
		begin_ns = clock_now_ns();
		if (sscanf(line, "attach %u", &parts) == 1)
			answer_time(begin_ns, session_attach_probes(session, parts, &error));
		else if (sscanf(line, "detach %u", &parts) == 1)
			answer_time(begin_ns, session_detach_probes(session, parts));
		else if (answer_report(session))
			return 1;
	}
	return 0;
}

/* Returns 0 or a negative errno with `error` filled. */
static int start(const char *backend, int pid, struct module_list *modules, struct decoder *decoder,
		 const struct log *log, struct session **ret_session, struct error *error)
{
	struct session_options options = {
		.max_blocks = 1000000,
		.max_stacks = 16384,
		.stack_depth = 32,
		.max_size = UINT64_MAX,
		.divided = true,
		.modules = modules,
		.decoder = decoder,
		.log = log,
	};
	struct process *process;
	int code;

	while (options.backend < BACKEND_KERNEL_COUNT &&
	       strcmp(backend, backend_name(options.backend)) != 0)
		options.backend++;
	options.backend_chosen = options.backend < BACKEND_KERNEL_COUNT;
	code = session_open(&options, ret_session, error);
	if (!code)
		code = process_open(pid, &process, error);
	if (!code)
		code = session_add_process(*ret_session, process, NULL, error);
	if (!code)
		session_activate(*ret_session);
	return code;
}

int main(int argc, char **argv)
{
	const struct log log = { stderr, LOG_NOTICE };
	struct module_list modules = { 0 };
	struct session *session = NULL;
	struct error error = { 0 };
	struct decoder *decoder;
	int status;

	fork_server_main(argv, worker_run);
	if (argc != 3)
		return 2;
	setlinebuf(stdout);
	decoder = decoder_new(true, NULL);
	status = start(argv[1], atoi(argv[2]), &modules, decoder, &log, &session, &error)
			 ? fail(&error)
			 : run(session);
	session_close(session);
	decoder_free(decoder);
	module_list_free(&modules);
	return status;
}
