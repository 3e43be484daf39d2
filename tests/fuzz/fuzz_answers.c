/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a worker answers that a file has taken over: the first byte chooses the question, the rest is the answer. Whatever it
 * is, the tracer refuses it or gets something that its other parts can use without a check: positions are within tables and
 * files, texts end.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "decode/client.h"
#include "decode/decoder.h"
#include "fuzz.h"
#include "tracer_abi.h"

#define FILE_SIZE 0x10000

static const uint8_t *answer_bytes;
static size_t answer_size;

/* In the place of the worker. */
int client_start(struct client *client, const struct debug_search *search, int timeout_ms,
		 bool (*is_over)(void))
{
	(void)search;
	(void)is_over;
	client->timeout_ms = timeout_ms;
	return 0;
}

int client_lookup(struct client *client, const struct module *module, uint64_t offset,
		  void (*visit)(void *context, const struct message *symbol), void *context)
{
	(void)client;
	(void)module;
	(void)offset;
	(void)visit;
	(void)context;
	return -ESRCH;
}

int client_read(struct client *client, const struct module *module, uint32_t job,
		const struct buffer *question, struct buffer *answer, int *ret_result)
{
	(void)client;
	(void)module;
	(void)job;
	(void)question;
	if (answer_size)
		buffer_append(answer, (const char *)answer_bytes, answer_size);
	*ret_result = 0;
	return 0;
}

void client_distrust(struct client *client)
{
	(void)client;
}

void client_stop(struct client *client)
{
	(void)client;
}

static void check_facts(struct decoder *decoder, const struct module *module)
{
	struct file_facts facts;

	if (decoder_describe(decoder, module, &facts))
		return;
	MUST(facts.build_id_size <= BUILD_ID_MAX);
	MUST(memchr(facts.interpreter, 0, sizeof(facts.interpreter)));
}

static void check_interpreter(struct decoder *decoder, const struct module *module)
{
	struct interp_file file;

	if (decoder_interpreter(decoder, module, &file))
		return;
	MUST(memchr(file.version, 0, sizeof(file.version)));
}

static void check_rows(struct decoder *decoder, const struct module *module)
{
	struct unwind_file file;
	const struct cfi_table *table = &file.table;
	uint32_t i;

	if (decoder_rows(decoder, module, &file))
		return;
	MUST(table->row_count && file.code_count <= ELF_CODES_MAX);
	for (i = 0; i <= table->page_count; i++) {
		MUST(table->pages[i] && table->pages[i] <= table->row_count);
		MUST(!i || table->pages[i - 1] <= table->pages[i]);
	}
	unwind_file_free(&file);
}

static void check_probe(const struct plan *plan, const struct plan_probe *probe)
{
	MUST(probe->module == 0 && probe->function < plan->function_count);
	MUST(probe->site_offset < FILE_SIZE && probe->entry_offset < FILE_SIZE);
	MUST(probe->semaphore < FILE_SIZE && probe->size <= FILE_SIZE && !probe->refused);
	MUST(SHAPE_OP(probe->shape) <= CALL_PROCESS_END && strlen(probe->symbol) < 4096);
	MUST(memchr(probe->aliases, 0, sizeof(probe->aliases)));
}

/* What is taken over can be printed. */
static void check_plan(struct decoder *decoder, struct module_list *modules)
{
	const struct plan_options options = { 0 };
	struct buffer text = { 0 };
	struct plan plan;
	size_t i;

	plan_init(&plan, modules, &options);
	if (decoder_plan(decoder, &plan, 0))
		MUST(!plan.count && !plan.skipped_count);
	for (i = 0; i < plan.count; i++)
		check_probe(&plan, &plan.probes[i]);
	plan_summarize(&plan, 0, &text);
	plan_describe(&plan, &text);
	buffer_free(&text);
	plan_free(&plan);
}

/* All at once; each part is asked for then. */
static void check_prepared(struct decoder *decoder, struct module_list *modules)
{
	const struct plan_options options = { 0 };
	const struct module *module = module_list_get(modules, 0);
	struct plan plan;

	plan_init(&plan, modules, &options);
	decoder_prepare(decoder, module, &plan);
	plan_free(&plan);
	answer_size = 0;
	check_facts(decoder, module);
	check_plan(decoder, modules);
	check_interpreter(decoder, module);
	check_rows(decoder, module);
}

static struct module *make_module(void)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string("/lib/libtest.so");
	module->fd = memfd_create("file", MFD_CLOEXEC);
	MUST(module->fd >= 0 && !ftruncate(module->fd, FILE_SIZE));
	return module;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module_list modules = { 0 };
	struct decoder *decoder;
	const struct module *module;

	if (!size)
		return 0;
	answer_bytes = data + 1;
	answer_size = size - 1;
	decoder = decoder_new(true, NULL);
	module_list_add(&modules, make_module());
	module = module_list_get(&modules, 0);
	switch (data[0] % JOB_COUNT) {
	case JOB_DESCRIBE:
		check_facts(decoder, module);
		break;
	case JOB_PLAN:
		check_plan(decoder, &modules);
		break;
	case JOB_INTERPRETER:
		check_interpreter(decoder, module);
		break;
	case JOB_ROWS:
		check_rows(decoder, module);
		break;
	default:
		check_prepared(decoder, &modules);
	}
	module_list_free(&modules);
	decoder_free(decoder);
	return 0;
}
