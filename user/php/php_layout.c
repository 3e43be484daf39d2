/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See php_layout.h. */
#include "php/php_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/frames_ops.h"
#include "php/php_name.h"

/* Calls that a check looks at, from the innermost one on. */
#define CHECKED_MAX 32

/* Pages of PHP's stack: 256 KB, and less of a fiber's. Larger ones are made of several. */
#define PAGE_MIN (1u << 12)
#define PAGE_MAX (1u << 24)

/* Far more instructions than any function has. */
#define OPS_MAX (1u << 24)

const struct php_layout *php_layout_find(const char *version)
{
	/* Version; globals: current call; op array: file name, number of instructions, instructions. */
	static const struct php_layout layouts[] = {
		{ 0, { 488, 144 }, 68, 72 },  { 1, { 488, 144 }, 68, 72 },
		{ 2, { 488, 152 }, 80, 88 },  { 3, { 488, 144 }, 76, 80 },
		{ 4, { 488, 168 }, 96, 104 },
	};
	size_t i;

	if (strlen(version) != 3 || memcmp(version, "8.", 2) != 0)
		return NULL;
	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if ((char)('0' + layouts[i].minor) == version[2])
			return &layouts[i];
	return NULL;
}

bool php_layout_is_state(const struct php_layout *layout, const struct target_memory *memory,
			 uint64_t state)
{
	/* vm_stack_top, vm_stack_end, vm_stack, vm_stack_page_size, current_execute_data */
	uint64_t words[5];
	uint64_t stack, page, size;

	if (!target_read(memory, state + layout->walk.current - 32, words, sizeof(words)))
		return false;
	stack = words[2];
	page = words[3];
	size = words[1] - stack;
	if (page < PAGE_MIN || page > PAGE_MAX || page & (page - 1) || !stack || stack & 7)
		return false;
	return size && size % page == 0 && words[0] - stack <= size && !(words[4] & 7);
}

static bool php_is_function(const struct php_layout *layout, const struct target_memory *memory,
			    uint64_t function, uint64_t op)
{
	struct interp_frame frame = { .code = function };
	uint32_t type = target_word(memory, function) & 0xff, count;
	struct interp_name name;
	uint64_t ops;

	if (!php_name_frame(layout, memory, &frame, &name))
		return false;
	if (type == PHP_INTERNAL_FUNCTION)
		return true;
	ops = target_word(memory, function + layout->ops);
	count = target_half(memory, function + layout->op_count);
	return name.file[0] && ops && count && count <= OPS_MAX && (op - ops) % PHP_OP_BYTES == 0 &&
	       (op - ops) / PHP_OP_BYTES < count;
}

bool php_layout_check(const struct php_layout *layout, const struct target_memory *memory,
		      uint64_t state)
{
	uint64_t words[PHP_FRAME_BYTES / 8], call;
	unsigned int looked;

	if (!target_read_word(memory, state + layout->walk.current, &call))
		return false;
	for (looked = 0; call && looked < CHECKED_MAX; looked++) {
		if (call & 7 || !target_read(memory, call, words, sizeof(words)))
			return false;
		if (words[PHP_FRAME_FUNCTION / 8] &&
		    !php_is_function(layout, memory, words[PHP_FRAME_FUNCTION / 8],
				     words[PHP_FRAME_OPLINE / 8]))
			return false;
		call = words[PHP_FRAME_PREVIOUS / 8];
	}
	return true;
}

/* Numbers of the module API by version, and how a build that is understood ends its text. */
static const struct {
	const char *text, *version;
} php_apis[] = {
	{ "API20200930,NTS", "8.0" }, { "API20210902,NTS", "8.1" }, { "API20220829,NTS", "8.2" },
	{ "API20230831,NTS", "8.3" }, { "API20240924,NTS", "8.4" },
};

#define API_COUNT (sizeof(php_apis) / sizeof(php_apis[0]))

/* Which row of the table, counted from 1, is in the file as a text of its own; beyond the table: a text that is none. */
static unsigned int php_find_api(const char *bytes, size_t count)
{
	unsigned int row;
	size_t i;

	for (i = 0; i < count; i++) {
		const char *at = bytes + i;

		if (memcmp(at, "\0API20", 6) != 0)
			continue;
		for (row = 0; row < API_COUNT; row++)
			if (!strncmp(at + 1, php_apis[row].text, INTERP_TEXT_MAX - 1))
				return row + 1;
		if (!memcmp(at + 12, ",NTS", 4) || !memcmp(at + 12, ",TS", 3))
			return API_COUNT + 1;
	}
	return 0;
}

/* A build with thread safety has an offset in the place of the globals. */
static bool php_read_file(struct elf_file *file, const char *path, struct interp_file *interp)
{
	unsigned int row;

	(void)path;
	interp->globals = interp_file_symbol(file, "executor_globals");
	if (!interp_file_symbol(file, "execute_ex") ||
	    (!interp->globals && !interp_file_symbol(file, "executor_globals_offset")))
		return false;
	row = interp_file_search(file, php_find_api);
	if (row && row <= API_COUNT)
		interp_file_set_version(interp, php_apis[row - 1].version, 3);
	interp_file_set_loop(file, "execute_ex", interp);
	return true;
}

static bool php_knows(const struct interp_file *interp)
{
	return interp->globals && php_layout_find(interp->version);
}

static bool php_set_layout(struct interpreter *interpreter, const struct interp_file *file,
			   uint64_t bias, const struct target_memory *memory)
{
	const struct php_layout *layout = php_layout_find(file->version);

	(void)memory;
	if (!layout)
		return false;
	interpreter_put_own(interpreter, &layout, sizeof(layout));
	interpreter->process.php = layout->walk;
	interpreter->process.anchor_kind = INTERP_ANCHOR_PROCESS;
	interpreter->process.anchor = bias + file->globals;
	return true;
}

static const struct php_layout *php_layout_of(const struct interpreter *interpreter)
{
	const struct php_layout *layout;

	interpreter_get_own(interpreter, &layout, sizeof(layout));
	return layout;
}

static bool php_is_state(const struct interpreter *interpreter, const struct target_memory *memory,
			 uint64_t state, uint64_t identity)
{
	(void)identity;
	return php_layout_is_state(php_layout_of(interpreter), memory, state);
}

static bool php_check(const struct interpreter *interpreter, const struct target_memory *memory,
		      uint64_t state)
{
	return php_layout_check(php_layout_of(interpreter), memory, state);
}

static bool php_name_live(const struct interpreter *interpreter, const struct target_memory *memory,
			  const struct interp_frame *frame, struct interp_name *ret_name)
{
	return php_name_frame(php_layout_of(interpreter), memory, frame, ret_name);
}

static bool php_name_copied(const struct interpreter *interpreter,
			    const struct target_memory *memory, const struct interp_frame *frame,
			    const struct interp_code *copy, struct interp_name *ret_name)
{
	return php_name_copy(php_layout_of(interpreter), memory, frame, copy, ret_name);
}

static uint64_t php_key(const struct interpreter *interpreter, const struct target_memory *memory,
			uint64_t code)
{
	return php_name_key(php_layout_of(interpreter), memory, code);
}

const struct frames_ops php_ops = {
	.launcher = "php",
	.read_file = php_read_file,
	.knows = php_knows,
	.set_layout = php_set_layout,
	.is_state = php_is_state,
	.check = php_check,
	.name_frame = php_name_live,
	.name_copy = php_name_copied,
	.key = php_key,
};
