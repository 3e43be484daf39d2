/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See jobs.h. */
#include "decode/jobs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <stdlib.h>

#include "base/memory.h"
#include "decode/name_jobs.h"
#include "decode/plan_wire.h"
#include "decode/wire.h"
#include "discover/debug_symbols.h"
#include "frames/frames_table.h"
#include "probe/switching.h"
#include "elf/elf_file.h"
#include "system/os_release.h"
#include "system/package_files.h"
#include "unwind/unwind_file.h"

/* The kernel's own page of code is far smaller. */
#define MEMORY_MAX (1u << 20)

struct job {
	int fd;
	const char *path;
	const struct buffer *question;
	const struct debug_source *source;
	struct buffer *answer;
};

static int job_describe(const struct job *job, struct elf_file *file)
{
	const char *interpreter = elf_file_interpreter(file);
	struct plan plan = { 0 };
	struct file_facts facts;

	/* With its padding. */
	memset(&facts, 0, sizeof(facts));
	facts.has_symbols = elf_file_has_symbols(file);
	plan_seek_samples(&plan, file);
	facts.has_samplers = plan.has_samplers;
	facts.switching = (uint32_t)switching_find(file);
	if (interpreter && strlen(interpreter) < sizeof(facts.interpreter))
		memcpy(facts.interpreter, interpreter, strlen(interpreter));
	facts.build_id_size =
		(uint32_t)elf_file_build_id(file, facts.build_id, sizeof(facts.build_id));
	wire_put(job->answer, &facts, sizeof(facts));
	return 0;
}

static int job_build_id(const struct job *job, struct elf_file *file)
{
	unsigned char id[BUILD_ID_MAX];

	wire_put(job->answer, id, elf_file_build_id(file, id, sizeof(id)));
	return 0;
}

static void job_add_file(const struct job *job, struct plan *plan, struct elf_file *file)
{
	size_t added = plan_add_file(plan, 0, file);

	/* Something that is linked into a stripped program may be known to its debug file. */
	if (!added && !plan->skipped_count && plan->options.usdt != USDT_ONLY &&
	    debug_symbols_add(job->source, file))
		plan_add_file(plan, 0, file);
	else if (plan_module_samples(plan, 0) && !plan->range_count &&
		 debug_symbols_add(job->source, file))
		plan_find_ranges(plan, 0, file);
}

static int job_plan(const struct job *job, struct elf_file *file)
{
	struct module *module = memory_alloc(1, sizeof(*module));
	struct module_list modules = { 0 };
	struct named_list named = { 0 };
	struct plan plan;
	int code = -EPROTO;

	module->path = memory_copy_string(job->path);
	module->fd = -1;
	module_list_add(&modules, module);
	if (plan_wire_get_options(job->question, &modules, &named, &plan)) {
		job_add_file(job, &plan, file);
		plan_wire_put(job->answer, &plan);
		plan_free(&plan);
		named_list_free(&named);
		code = 0;
	}
	module_list_free(&modules);
	return code;
}

/* A version that is not known is an answer, too. */
static int job_interpreter(const struct job *job, struct elf_file *file)
{
	struct interp_file interp;
	int code;

	memset(&interp, 0, sizeof(interp));
	code = frames_table_read_file(file, job->path, &interp);
	if (code && code != -ENOTSUP)
		return code;
	wire_put(job->answer, &interp, sizeof(interp));
	return 0;
}

static int job_put_rows(const struct job *job, struct unwind_file *file)
{
	const struct cfi_table *table = &file->table;
	const struct rows_head head = { .row_count = table->row_count,
					.first_page = table->first_page,
					.page_count = table->page_count,
					.functions = table->functions,
					.skipped = table->skipped,
					.code_count = file->code_count };

	wire_put(job->answer, &head, sizeof(head));
	wire_put(job->answer, file->codes, sizeof(file->codes));
	wire_put(job->answer, table->rows, table->row_count * sizeof(*table->rows));
	wire_put(job->answer, table->pages,
		 ((size_t)table->page_count + 1) * sizeof(*table->pages));
	unwind_file_free(file);
	return 0;
}

static int job_rows(const struct job *job)
{
	struct unwind_file file = { 0 };
	int code = unwind_file_read(job->fd, &file);

	return code ? code : job_put_rows(job, &file);
}

static int job_rows_of_memory(const struct job *job)
{
	void *bytes = memory_alloc(1, MEMORY_MAX);
	ssize_t size = pread(job->fd, bytes, MEMORY_MAX, 0);
	struct unwind_file file = { 0 };
	int code = size < 0 ? -errno : unwind_file_read_memory(bytes, (size_t)size, &file);

	free(bytes);
	return code ? code : job_put_rows(job, &file);
}

static int job_distribution(const struct job *job)
{
	char text[OS_RELEASE_MAX];
	ssize_t size = pread(job->fd, text, sizeof(text), 0);

	if (size < 0)
		return -errno;
	wire_put_number(job->answer, (uint32_t)os_release_parse(text, (size_t)size));
	return 0;
}

static int job_package_has(const struct job *job)
{
	char *text = memory_alloc(1, PACKAGE_FILES_MAX);
	ssize_t size = pread(job->fd, text, PACKAGE_FILES_MAX, 0);
	int code = size < 0 ? -errno : 0;

	if (!code)
		wire_put_number(job->answer,
				package_files_has(text, (size_t)size, job->question->data,
						  job->question->length));
	free(text);
	return code;
}

/* Each question is a wait for another process, which may be long on a busy machine. */
static int job_all(const struct job *job)
{
	static const uint32_t kinds[] = { JOB_DESCRIBE, JOB_PLAN, JOB_INTERPRETER, JOB_ROWS };
	struct buffer part = { 0 };
	size_t i;
	int code;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		buffer_clear(&part);
		code = job_run(kinds[i], job->fd, job->path, job->question, job->source, &part);
		wire_put_number(job->answer, kinds[i]);
		wire_put_number(job->answer, (uint32_t)-code);
		wire_put_number(job->answer, code ? 0 : (uint32_t)part.length);
		wire_put(job->answer, part.data, code ? 0 : part.length);
	}
	buffer_free(&part);
	return 0;
}

int job_run(enum decode_job kind, int fd, const char *path, const struct buffer *question,
	    const struct debug_source *source, struct buffer *answer)
{
	const struct job job = { fd, path, question, source, answer };
	struct elf_file *file;
	int code;

	if (kind == JOB_ROWS)
		return job_rows(&job);
	if (kind == JOB_ROWS_OF_MEMORY)
		return job_rows_of_memory(&job);
	if (kind == JOB_DISTRIBUTION)
		return job_distribution(&job);
	if (kind == JOB_PACKAGE_HAS)
		return job_package_has(&job);
	if (kind == JOB_DEMANGLE)
		return name_job_demangle(question, answer);
	if (kind == JOB_PLACES)
		return name_job_places(source, question, answer);
	if (kind == JOB_ALL)
		return job_all(&job);
	file = elf_file_open(fd, NULL);
	if (!file)
		return -ENOEXEC;
	switch (kind) {
	case JOB_DESCRIBE:
		code = job_describe(&job, file);
		break;
	case JOB_BUILD_ID:
		code = job_build_id(&job, file);
		break;
	case JOB_PLAN:
		code = job_plan(&job, file);
		break;
	case JOB_INTERPRETER:
		code = job_interpreter(&job, file);
		break;
	default:
		code = -EPROTO;
	}
	elf_file_close(file);
	return code;
}
