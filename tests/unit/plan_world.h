/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan of files that a test makes, so that the truth is what it has put into them. Include it once in a test program. */
#ifndef TESTS_PLAN_WORLD_H
#define TESTS_PLAN_WORLD_H

#include "base/memory.h"
#include "fake_elf_file.h"
#include "fake_plt.h"
#include "probe/plan.h"
#include "tracer_abi.h"

#define SIZE 0x10000

/* push %rbx; pop %rbx; ret */
#define CHEAP "\x53\x5b\xc3"
/* xor %eax,%eax; push %rbx; pop %rbx; ret */
#define DEAR "\x31\xc0\x53\x5b\xc3"

struct work {
	struct module_list modules;
	struct plan plan;
	struct elf_file file;
	uint8_t bytes[SIZE];
};

static inline struct work *work_new(const struct plan_options *options)
{
	struct work *work = memory_alloc(1, sizeof(*work));
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string("/lib/libtest\033.so");
	module->fd = -1;
	work->file.bytes = work->bytes;
	work->file.size = SIZE;
	assert_int_equal(module_list_add(&work->modules, module), 0);
	plan_init(&work->plan, &work->modules, options);
	return work;
}

static inline void work_free(struct work *work)
{
	plan_free(&work->plan);
	module_list_free(&work->modules);
	free(work);
}

static inline struct plan_options kernel_options(void)
{
	return (struct plan_options){ .features = probe_features_for_kernel(6, 18) };
}

static inline struct work *work_default(void)
{
	struct plan_options options = kernel_options();

	return work_new(&options);
}

static inline struct elf_function *put(struct work *work, const char *name, uint64_t offset,
				       const char *code, size_t size)
{
	struct elf_function *function = &work->file.functions[work->file.function_count++];

	assert_true(work->file.function_count <= FAKE_FUNCTIONS);
	*function = (struct elf_function){ .name = name, .file_offset = offset, .size = size };
	memcpy(work->bytes + offset, code, size);
	return function;
}

#define PUT(work, name, offset, code) put(work, name, offset, code, sizeof(code) - 1)

#if defined(__x86_64__)

static inline void put_jump(struct work *work, const char *name, uint64_t offset, uint64_t target)
{
	int32_t displacement = (int32_t)((int64_t)target - (int64_t)offset - 5);
	char code[5] = "\xe9";

	memcpy(code + 1, &displacement, sizeof(displacement));
	put(work, name, offset, code, sizeof(code));
}

#endif

static inline const struct plan_probe *probe_of(const struct work *work, const char *symbol)
{
	const struct plan_probe *found = NULL;
	size_t i;

	for (i = 0; i < work->plan.count; i++)
		if (strcmp(work->plan.probes[i].symbol, symbol) == 0) {
			assert_null(found);
			found = &work->plan.probes[i];
		}
	return found;
}

static inline bool is_skipped(const struct work *work, const char *words)
{
	size_t i;

	for (i = 0; i < work->plan.skipped_count; i++)
		if (strstr(work->plan.skipped[i].sentence, words))
			return true;
	return false;
}

#if defined(__x86_64__)

/* xor %eax,%eax; push %rbx; pop %rbx; ret, and jmp *%rax */
#define NO_EXITS "\x31\xc0\x53\x5b\xff\xe0"

#endif

#endif
