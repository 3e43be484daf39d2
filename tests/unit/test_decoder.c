/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of a worker that a file has taken over: it ends, hangs, or lies. The worker here does what the name of the file
 * says. And the system calls that are refused in the sandbox, tried there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "decode/decoder.h"
#include "decode/fork_server.h"
#include "decode/plan_wire.h"
#include "decode/protocol.h"
#include "decode/wire.h"
#include "discover/debug_want.h"
#include "tracer_abi.h"

/* The calls by which a worker could do harm. Returns the number of the first that is not refused, or 0. */
static uint32_t forbidden_calls(void)
{
	struct rlimit limit = { 0, 0 };
	struct stat status;
	pid_t other = getppid();

	errno = 0;
	if (!syscall(SYS_tgkill, other, other, 0) || errno != EPERM)
		return 1;
	if (!syscall(SYS_prlimit64, other, RLIMIT_NOFILE, NULL, &limit) || errno != EPERM)
		return 2;
	if (!syscall(SYS_newfstatat, AT_FDCWD, "/", &status, 0) || errno != EPERM)
		return 3;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return 4;
	if (syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY) >= 0 || errno != EPERM)
		return 5;
	if (!syscall(SYS_kill, other, 0) || errno != EPERM)
		return 6;
	if (syscall(SYS_socket, 1, 1, 0) >= 0 || errno != EPERM)
		return 7;
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0)
		return 8;
	/* What the filter refused is not all that was refused. */
	return getuid() && !syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0) ? 0 : 9;
}

static void answer(int socket, const struct message *question, const void *bytes, size_t size,
		   uint32_t result)
{
	struct message message = {
		.kind = MESSAGE_ANSWER, .module = question->module, .detail = result, .number = size
	};

	if (message_send(socket, &message, -1) || message_send_bytes(socket, bytes, size))
		_exit(0);
}

/* A plan with one probe. */
static void answer_plan(int socket, const struct message *question, uint64_t offset)
{
	struct plan_probe probe = { .function = 1, .symbol = "malloc", .site_offset = offset };
	struct buffer bytes = { 0 };
	struct plan plan;

	plan_init(&plan, NULL, &(struct plan_options){ 0 });
	plan_add_function(&plan, "evil", "\033[31mmalloc");
	plan.probes = &probe;
	plan.count = 1;
	/* Somebody else's process. */
	probe.shape = SHAPE_WITH_TARGET(SHAPE(CALL_ALLOC, 1, 0, 0, RESULT_POINTER, SOURCE_HEAP), 7);
	plan_wire_put(&bytes, &plan);
	answer(socket, question, bytes.data, bytes.length, 0);
}

/* Ask for the file again, and read no answer. */
static void want(int socket, const struct message *question)
{
	struct message message = { .kind = MESSAGE_WANT,
				   .what = WANT_MODULE,
				   .module = question->module };

	if (message_send(socket, &message, -1))
		_exit(0);
}

static void behave(int socket, const struct message *message)
{
	struct rows_head rows = { .row_count = 1, .page_count = 1u << 31 };
	struct file_facts facts = { .build_id_size = 1000 };
	const char *path = message->text;

	if (!strcmp(path, "end"))
		_exit(0);
	while (!strcmp(path, "hang"))
		getpid();
	while (!strcmp(path, "wants"))
		want(socket, message);
	if (!strcmp(path, "short"))
		answer(socket, message, "x", 1, 0);
	else if (!strcmp(path, "calls"))
		answer(socket, message, "", 0, ENODATA + forbidden_calls());
	else if (!strcmp(path, "beyond"))
		answer_plan(socket, message, 1u << 30);
	else if (!strcmp(path, "plan"))
		answer_plan(socket, message, 4);
	else if (message->what == JOB_DESCRIBE)
		answer(socket, message, &facts, sizeof(facts), 0);
	else
		answer(socket, message, &rows, sizeof(rows), 0);
}

static void evil_run(int socket)
{
	static unsigned char bytes[1 << 16];
	struct message message;

	while (!message_receive(socket, &message, NULL, -1)) {
		if (message_receive_bytes(socket, bytes, message.number, -1))
			_exit(0);
		behave(socket, &message);
	}
}

static struct module module_of(const char *path)
{
	static uint32_t number;

	return (struct module){ .path = (char *)(uintptr_t)path,
				.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
				.number = number++ };
}

static void assert_rows(struct decoder *decoder, const char *path, int code)
{
	struct module module = module_of(path);
	struct unwind_file file = { 0 };

	assert_int_equal(decoder_rows(decoder, &module, &file), code);
	assert_null(file.table.rows);
	/* It is not asked again. */
	if (decoder_failure(code))
		assert_int_equal(decoder_rows(decoder, &module, &file), code);
	close(module.fd);
}

/* Each costs its own file: the next one gets an answer. */
static void test_bad_workers(void **state)
{
	struct decoder *decoder = decoder_new(false, NULL);
	struct file_facts facts;
	struct module module = module_of("facts");

	(void)state;
	assert_rows(decoder, "calls", -ENODATA);
	assert_rows(decoder, "end", -EPIPE);
	assert_rows(decoder, "calls", -ENODATA);
	assert_rows(decoder, "short", -EPROTO);
	assert_rows(decoder, "rows", -EPROTO);
	assert_rows(decoder, "wants", -EPROTO);
	assert_int_equal(decoder_describe(decoder, &module, &facts), -EPROTO);
	assert_rows(decoder, "hang", -ETIMEDOUT);
	assert_rows(decoder, "calls", -ENODATA);
	close(module.fd);
	decoder_free(decoder);
}

static void test_bad_plans(void **state)
{
	struct decoder *decoder = decoder_new(false, NULL);
	struct module_list modules = { 0 };
	struct module *module;
	struct plan plan;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		module = memory_alloc(1, sizeof(*module));
		*module = module_of(i ? "plan" : "beyond");
		module->path = memory_copy_string(module->path);
		module_list_add(&modules, module);
	}
	plan_init(&plan, &modules, &(struct plan_options){ 0 });
	assert_int_equal(decoder_plan(decoder, &plan, 0), -EPROTO);
	assert_int_equal(plan.count, 0);
	assert_int_equal(decoder_plan(decoder, &plan, 1), 0);
	assert_int_equal(plan.count, 1);
	/* Whose process it is, is not for a file to say. */
	assert_int_equal(SHAPE_TARGET(plan.probes[0].shape), 0);
	assert_int_equal(SHAPE_OP(plan.probes[0].shape), CALL_ALLOC);
	assert_string_equal(plan.functions[plan.probes[0].function].function, "\\x1b[31mmalloc");
	plan_free(&plan);
	module_list_free(&modules);
	decoder_free(decoder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_workers),
		cmocka_unit_test(test_bad_plans),
	};

	(void)argc;
	fork_server_main(argv, evil_run);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
