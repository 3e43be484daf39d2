/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See decoder.h. */
#include "decode/decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "decode/client.h"
#include "decode/plan_wire.h"
#include "decode/wire.h"
#include "frames/frames_table.h"

/*
 * For one file: several times what the largest ones take. One who has many files that take long does not hold up the tracer
 * for ever: each that is given up halves what the next gets.
 */
#define PATIENCE_MS 10000
#define PATIENCE_LEAST_MS 1000

/* A worker may be killed from outside; a file that ends two is to blame. */
#define ATTEMPTS_MAX 2

/* As the kernel has it. */
#define ERRNO_MAX 4095

/* More pages than an address space of 32 bits has. */
#define PAGES_MAX (1u << 20)

/* Bytes of answers that have not been requested yet. */
#define PREPARED_MAX (64u << 20)
#define PREPARED_FILES 1024

struct prepared {
	struct buffer question; /* that the plan is the answer to */
	struct prepared_part {
		bool present;
		int result;
		struct buffer answer;
	} parts[JOB_COUNT];
};

struct decoder {
	struct client client;
	bool whole;
	struct table prepared; /* number of a module + 1 -> struct prepared */
	size_t prepared_bytes;
	struct table bad; /* number of a module that is read no more + 1 -> errno of why */
	int broken; /* errno of why no worker can be started; 0 = they can */
};

struct decoder *decoder_new(bool whole, bool (*is_over)(void))
{
	const struct debug_search search = { .host_directory = "/usr/lib/debug" };
	struct decoder *decoder = memory_alloc(1, sizeof(*decoder));

	decoder->whole = whole;
	if (client_start(&decoder->client, &search, PATIENCE_MS, is_over))
		decoder->broken = ESRCH;
	return decoder;
}

static void prepared_free(struct prepared *prepared)
{
	size_t i;

	for (i = 0; i < JOB_COUNT; i++)
		buffer_free(&prepared->parts[i].answer);
	buffer_free(&prepared->question);
	free(prepared);
}

static void decoder_drop_prepared(struct decoder *decoder)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&decoder->prepared, &cursor)))
		prepared_free(slot->value);
	table_free(&decoder->prepared);
	decoder->prepared_bytes = 0;
}

void decoder_free(struct decoder *decoder)
{
	if (!decoder)
		return;
	client_stop(&decoder->client);
	decoder_drop_prepared(decoder);
	table_free(&decoder->bad);
	free(decoder);
}

const char *decoder_failure(int code)
{
	switch (code) {
	case -ETIMEDOUT:
		return "it took too long";
	case -EPIPE:
		return "it ended the process that reads it";
	case -EPROTO:
		return "the process that reads it answered nonsense";
	case -ECANCELED:
		return "the tracer has to end";
	case -ESRCH:
		return "the process that reads files has ended";
	case -EPERM:
		return "the process that reads files cannot be confined: this system allows no "
		       "seccomp filter";
	default:
		return NULL;
	}
}

static void decoder_give_up(struct decoder *decoder, const struct module *module, int code)
{
	if (code == -ESRCH || code == -EPERM) {
		decoder->broken = -code;
		return;
	}
	table_put(&decoder->bad, (uint64_t)module->number + 1, (void *)(intptr_t)-code);
	if (code == -ETIMEDOUT && decoder->client.timeout_ms > PATIENCE_LEAST_MS)
		decoder->client.timeout_ms /= 2;
}

/* Returns as the functions of decoder.h. Free `answer` in any case. */
static int decoder_ask_worker(struct decoder *decoder, const struct module *module,
			      enum decode_job job, const struct buffer *question,
			      struct buffer *answer)
{
	void *bad = table_get(&decoder->bad, (uint64_t)module->number + 1);
	int attempt, code = 0, result = 0;

	if (decoder->broken)
		return -decoder->broken;
	if (bad)
		return -(int)(intptr_t)bad;
	for (attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		buffer_clear(answer);
		code = client_read(&decoder->client, module, job, question, answer, &result);
		if (code != -EPIPE)
			break;
	}
	if (code)
		decoder_give_up(decoder, module, code);
	return code ? code : result;
}

static bool buffer_is_same(const struct buffer *left, const struct buffer *right)
{
	return left->length == right->length &&
	       (!left->length || !memcmp(left->data, right->data, left->length));
}

/* An answer that is there already, once. */
static bool decoder_take(struct decoder *decoder, const struct module *module, enum decode_job job,
			 const struct buffer *question, struct buffer *answer, int *ret_result)
{
	struct prepared *prepared = table_get(&decoder->prepared, (uint64_t)module->number + 1);
	struct prepared_part *part = prepared ? &prepared->parts[job] : NULL;

	if (!part || !part->present ||
	    (job == JOB_PLAN && !buffer_is_same(question, &prepared->question)))
		return false;
	*answer = part->answer;
	*ret_result = part->result;
	*part = (struct prepared_part){ 0 };
	return true;
}

static int decoder_ask(struct decoder *decoder, const struct module *module, enum decode_job job,
		       const struct buffer *question, struct buffer *answer)
{
	int result;

	if (decoder_take(decoder, module, job, question, answer, &result))
		return result;
	return decoder_ask_worker(decoder, module, job, question, answer);
}

/* The answer was not what it has to be: the file has taken over its worker, or nearly so. */
static int decoder_refuse(struct decoder *decoder, const struct module *module)
{
	client_distrust(&decoder->client);
	decoder_give_up(decoder, module, -EPROTO);
	return -EPROTO;
}

static bool prepared_read(struct prepared *prepared, const struct buffer *answer)
{
	struct wire wire = wire_begin(answer);

	while (!wire.bad && wire.at != wire.end) {
		uint32_t job = wire_get_number(&wire), error = wire_get_number(&wire);
		uint32_t size = wire_get_number(&wire);
		struct prepared_part *part;

		if (!job || job >= JOB_ALL || error > ERRNO_MAX ||
		    size > (size_t)(wire.end - wire.at) || prepared->parts[job].present)
			return false;
		part = &prepared->parts[job];
		part->present = true;
		part->result = -(int)error;
		wire_put(&part->answer, wire.at, size);
		wire.at += size;
	}
	return !wire.bad;
}

void decoder_prepare(struct decoder *decoder, const struct module *module, const struct plan *plan)
{
	struct prepared *prepared;
	struct buffer answer = { 0 };
	int code;

	if (!decoder->whole)
		return;
	/* What was not asked for can be read again. */
	if (decoder->prepared_bytes > PREPARED_MAX || decoder->prepared.count == PREPARED_FILES)
		decoder_drop_prepared(decoder);
	prepared = memory_alloc(1, sizeof(*prepared));
	plan_wire_put_options(&prepared->question, plan);
	code = decoder_ask_worker(decoder, module, JOB_ALL, &prepared->question, &answer);
	if (!code && !prepared_read(prepared, &answer))
		code = decoder_refuse(decoder, module);
	if (code) {
		prepared_free(prepared);
	} else {
		table_put(&decoder->prepared, (uint64_t)module->number + 1, prepared);
		decoder->prepared_bytes += answer.length;
	}
	buffer_free(&answer);
}

/* Is it a text that ends within the field, without a control character? */
static bool text_is_plain(const char *text, size_t size)
{
	size_t length = strnlen(text, size), i;

	for (i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] == 0x7f)
			return false;
	return length < size;
}

int decoder_describe(struct decoder *decoder, const struct module *module,
		     struct file_facts *ret_facts)
{
	struct buffer answer = { 0 };
	const struct buffer nothing = { 0 };
	struct file_facts facts;
	struct wire wire;
	int code = decoder_ask(decoder, module, JOB_DESCRIBE, &nothing, &answer);

	wire = wire_begin(&answer);
	if (!code) {
		wire_get(&wire, &facts, sizeof(facts));
		if (wire_is_whole(&wire) && facts.build_id_size <= BUILD_ID_MAX &&
		    memchr(facts.interpreter, 0, sizeof(facts.interpreter)))
			*ret_facts = facts;
		else
			code = decoder_refuse(decoder, module);
	}
	buffer_free(&answer);
	return code;
}

int decoder_read_program(void *context, int fd, const char *path, char **ret_interpreter,
			 struct error *error)
{
	char *copy = memory_copy_string(path);
	const struct module module = { .path = copy, .fd = fd, .number = MODULE_NUMBER_NONE };
	struct file_facts facts;
	int code = decoder_describe(context, &module, &facts);
	const char *failure = decoder_failure(code);

	free(copy);
	if (code == -ENOEXEC)
		failure = "no ELF file of this machine, or a damaged one";
	if (code)
		return error_set(error, ERROR_NOTHING, code, "%s: %s", path,
				 failure ? failure : strerror(-code));
	if (*facts.interpreter)
		*ret_interpreter = memory_copy_string(facts.interpreter);
	return 0;
}

int decoder_plan(struct decoder *decoder, struct plan *plan, uint32_t index)
{
	const struct module *module = module_list_get(plan->modules, index);
	struct buffer question = { 0 }, answer = { 0 };
	struct stat status;
	int code = 0;

	if (fstat(module->fd, &status))
		return -errno;
	plan_wire_put_options(&question, plan);
	code = decoder_ask(decoder, module, JOB_PLAN, &question, &answer);
	if (!code && !plan_wire_add(&answer, plan, index, (uint64_t)status.st_size))
		code = decoder_refuse(decoder, module);
	buffer_free(&question);
	buffer_free(&answer);
	return code;
}

int decoder_interpreter(struct decoder *decoder, const struct module *module,
			struct interp_file *ret_file)
{
	const struct buffer nothing = { 0 };
	struct buffer answer = { 0 };
	struct interp_file file;
	struct wire wire;
	int code = decoder_ask(decoder, module, JOB_INTERPRETER, &nothing, &answer);

	wire = wire_begin(&answer);
	if (!code) {
		wire_get(&wire, &file, sizeof(file));
		if (!wire_is_whole(&wire) || !text_is_plain(file.version, sizeof(file.version)) ||
		    !frames_table_check_file(&file, &code))
			code = decoder_refuse(decoder, module);
		else
			*ret_file = file;
	}
	buffer_free(&answer);
	return code;
}

/* Rows may hold any rule: wrong ones break stacks of this file only. Positions must stay within them. */
static bool rows_are_sane(const struct cfi_table *table)
{
	uint32_t i;

	for (i = 0; i <= table->page_count; i++)
		if (!table->pages[i] || table->pages[i] > table->row_count ||
		    (i && table->pages[i] < table->pages[i - 1]))
			return false;
	return true;
}

static bool rows_read(const struct buffer *answer, struct unwind_file *ret_file)
{
	struct wire wire = wire_begin(answer);
	struct unwind_file file = { 0 };
	struct rows_head head;

	wire_get(&wire, &head, sizeof(head));
	wire_get(&wire, file.codes, sizeof(file.codes));
	if (wire.bad || !head.row_count || head.row_count > UNWIND_ROWS_MAX ||
	    head.page_count > PAGES_MAX || head.first_page > UINT32_MAX - head.page_count ||
	    head.code_count > ELF_CODES_MAX)
		return false;
	file.code_count = head.code_count;
	file.table = (struct cfi_table){
		.rows = memory_alloc(head.row_count, sizeof(*file.table.rows)),
		.row_count = head.row_count,
		.pages = memory_alloc((size_t)head.page_count + 1, sizeof(*file.table.pages)),
		.first_page = head.first_page,
		.page_count = head.page_count,
		.functions = head.functions,
		.skipped = head.skipped,
	};
	wire_get(&wire, file.table.rows, head.row_count * sizeof(*file.table.rows));
	wire_get(&wire, file.table.pages,
		 ((size_t)head.page_count + 1) * sizeof(*file.table.pages));
	if (!wire_is_whole(&wire) || !rows_are_sane(&file.table)) {
		unwind_file_free(&file);
		return false;
	}
	*ret_file = file;
	return true;
}

static int decoder_get_rows(struct decoder *decoder, const struct module *module,
			    enum decode_job job, struct unwind_file *ret_file)
{
	const struct buffer nothing = { 0 };
	struct buffer answer = { 0 };
	int code = decoder_ask(decoder, module, job, &nothing, &answer);

	if (!code && !rows_read(&answer, ret_file))
		code = decoder_refuse(decoder, module);
	buffer_free(&answer);
	return code;
}

int decoder_rows(struct decoder *decoder, const struct module *module, struct unwind_file *ret_file)
{
	return decoder_get_rows(decoder, module, JOB_ROWS, ret_file);
}

int decoder_rows_of_memory(struct decoder *decoder, const struct module *module, const void *bytes,
			   size_t size, struct unwind_file *ret_file)
{
	struct module image = *module;
	int code;

	image.fd = memfd_create("image", MFD_CLOEXEC);
	if (image.fd < 0)
		return -errno;
	if (write(image.fd, bytes, size) == (ssize_t)size)
		code = decoder_get_rows(decoder, &image, JOB_ROWS_OF_MEMORY, ret_file);
	else
		code = -EIO;
	close(image.fd);
	return code;
}
