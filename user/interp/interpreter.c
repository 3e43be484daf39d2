/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interpreter.h. */
#include "interp/interpreter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interp/function_range.h"
#include "interp/python_name.h"
#include "interp/ruby_name.h"
#include "system/elf_symbol.h"

/* A process that runs may be seen in the middle of a change: so often is it looked at. */
#define CHECKS_MAX 20

/* How far a file is searched for a version, and in which steps. */
#define SCAN_MAX (64u << 20)
#define SCAN_STEP (64u << 10)
#define SCAN_OVERLAP 32u

static uint64_t file_symbol(struct elf_file *file, const char *name)
{
	struct elf_symbol symbol;

	return elf_symbol_find_exported(file, name, &symbol) ? symbol.address : 0;
}

static void file_find_loop(struct elf_file *file, const char *name, struct interp_file *interp)
{
	struct elf_symbol symbol;

	if (!elf_symbol_find(file, name, &symbol))
		return;
	interp->loop = symbol.address;
	interp->loop_size = symbol.size;
}

/* Bytes of the file by their address. Returns how many were there. */
static size_t file_read_at(struct elf_file *file, uint64_t address, void *bytes, size_t size)
{
	uint64_t offset;

	if (!address || !elf_file_address_to_offset(file, address, &offset))
		return 0;
	return elf_file_read(file, offset, bytes, size);
}

static void file_set_version(struct interp_file *interp, const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && i < sizeof(interp->version) - 1 && isgraph((unsigned char)text[i]);
	     i++)
		interp->version[i] = text[i];
	interp->version[i] = '\0';
}

static int file_read_ruby(struct elf_file *file, uint64_t version, struct interp_file *interp)
{
	char text[INTERPRETER_VERSION_MAX];
	size_t size = file_read_at(file, version, text, sizeof(text));
	int code = -ENOTSUP;

	interp->kind = INTERP_RUBY;
	file_set_version(interp, text, size);
	file_find_loop(file, "rb_vm_exec", interp);
	interp_file_complete(interp, &code);
	return code;
}

/* "3.9" of ".../libpython3.9.so.1.0" and ".../python3.9"; 0 if the name does not tell. */
static unsigned int python_minor_of_path(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int minor;

	name = strstr(name ? name : path, "python3.");
	return name && sscanf(name, "python3.%2u", &minor) == 1 ? minor : 0;
}

/* The number at `*at`, of at most two digits; `*at` moves behind it. False if there is none. */
static bool python_take_number(const char **at, unsigned int *ret_number)
{
	const char *from = *at;
	unsigned int number = 0;

	while (*at < from + 2 && isdigit((unsigned char)**at))
		number = number * 10 + (unsigned int)(*(*at)++ - '0');
	*ret_number = number;
	return *at > from;
}

/* The minor number of the text "3.8.16" that stands between two NULs; 0 if there is no such text. */
static unsigned int python_minor_of_bytes(const char *bytes, size_t size)
{
	size_t i;

	for (i = 0; i + SCAN_OVERLAP < size; i++) {
		const char *at = bytes + i + 3;
		unsigned int minor, patch;

		if (bytes[i] || bytes[i + 1] != '3' || bytes[i + 2] != '.' ||
		    !python_take_number(&at, &minor) || *at++ != '.' ||
		    !python_take_number(&at, &patch))
			continue;
		if ((!*at || *at == '+') && minor >= 8 && minor <= 10)
			return minor;
	}
	return 0;
}

static unsigned int python_minor_of_file(struct elf_file *file)
{
	char bytes[SCAN_STEP];
	unsigned int minor = 0;
	uint64_t at = 0;
	size_t size;

	while (!minor && at < SCAN_MAX) {
		size = elf_file_read(file, at, bytes, SCAN_STEP);
		minor = python_minor_of_bytes(bytes, size);
		if (size < SCAN_STEP)
			break;
		at += SCAN_STEP - SCAN_OVERLAP;
	}
	return minor;
}

/* From 3.11 on the version is exported. */
static unsigned int python_minor(struct elf_file *file, const char *path)
{
	uint64_t exported = file_symbol(file, "Py_Version");
	unsigned int minor;
	uint64_t version;

	if (file_read_at(file, exported, &version, sizeof(version)) == sizeof(version))
		return version >> 24 == 3 ? version >> 16 & 0xff : 0;
	minor = python_minor_of_path(path);
	return minor ? minor : python_minor_of_file(file);
}

static int file_read_python(struct elf_file *file, const char *path, struct interp_file *interp)
{
	int code = -ENOTSUP;

	interp->kind = INTERP_PYTHON;
	interp->python_minor = python_minor(file, path);
	snprintf(interp->version, sizeof(interp->version), "3.%u", interp->python_minor);
	interp->code_type = file_symbol(file, "PyCode_Type");
	file_find_loop(file, "_PyEval_EvalFrameDefault", interp);
	interp_file_complete(interp, &code);
	return code;
}

int interp_file_read(struct elf_file *file, const char *path, struct interp_file *ret_file)
{
	struct interp_file interp = { 0 };
	uint64_t version = file_symbol(file, "ruby_version");
	int code = -ENOENT;

	interp.runtime = file_symbol(file, "_PyRuntime");
	if (version)
		code = file_read_ruby(file, version, &interp);
	else if (interp.runtime)
		code = file_read_python(file, path, &interp);
	if (code == -ENOENT || !elf_file_offset_to_address(file, 0, &interp.base))
		return -ENOENT;
	*ret_file = interp;
	return code;
}

bool interp_file_complete(struct interp_file *file, int *ret_code)
{
	struct python_layout layout;
	bool known;

	file->ruby = NULL;
	if (file->kind == INTERP_RUBY) {
		file->ruby = ruby_layout_find(file->version);
		known = file->ruby != NULL;
	} else if (file->kind == INTERP_PYTHON) {
		known = file->code_type && (file->python_minor == 13 ||
					    python_layout_find(file->python_minor, &layout));
	} else {
		return false;
	}
	*ret_code = known ? 0 : -ENOTSUP;
	return true;
}

/* What a question about a word needs to know. */
struct interp_question {
	const struct interpreter *interpreter;
	const struct target_memory *memory;
};

static bool interp_is_state(void *context, uint64_t value, uint64_t identity)
{
	const struct interp_question *question = context;
	const struct interpreter *interpreter = question->interpreter;

	if (interpreter->kind == INTERP_RUBY)
		return ruby_layout_is_state(interpreter->ruby, question->memory, value, identity);
	return python_layout_is_state(&interpreter->python, question->memory, value, identity);
}

static bool interp_check(const struct interpreter *interpreter, const struct target_memory *memory,
			 uint64_t state)
{
	if (interpreter->kind == INTERP_RUBY)
		return ruby_layout_check(interpreter->ruby, memory, state);
	return python_layout_check(&interpreter->python, memory, state);
}

/* Where no symbol tells: Ruby hides this function since 3.3, and files are stripped. */
static void interp_find_loop(struct interpreter *interpreter, const struct target_memory *memory,
			     uint64_t start, uint64_t state)
{
	uint64_t handler;

	if (interpreter->kind != INTERP_RUBY || interpreter->loop_start)
		return;
	handler = ruby_layout_handler(interpreter->ruby, memory, state);
	if (handler)
		function_range_find(memory, start, handler, &interpreter->loop_start,
				    &interpreter->loop_end);
}

static int interp_find_anchor(struct interpreter *interpreter, uint64_t start,
			      const struct target_memory *memory, const struct memory_range *ranges,
			      size_t range_count)
{
	struct interp_question question = { interpreter, memory };
	struct anchor_question ask = { interp_is_state, &question };
	uint64_t state;
	bool spent;
	int i;

	if (!anchor_find(memory, ranges, range_count, &ask, &interpreter->process, &state, &spent))
		return spent ? -E2BIG : -EAGAIN;
	for (i = 0; i < CHECKS_MAX; i++) {
		if (!interp_check(interpreter, memory, state))
			continue;
		interp_find_loop(interpreter, memory, start, state);
		return 0;
	}
	return -ENOTSUP;
}

/* Fill in the layout. From 3.13 on, the process has it. */
static bool interp_set_layout(struct interpreter *interpreter, const struct interp_file *file,
			      uint64_t bias, const struct target_memory *memory)
{
	uint8_t offsets[PYTHON_OFFSETS_SIZE];

	interpreter->ruby = file->ruby;
	if (file->kind == INTERP_RUBY) {
		interpreter->process.ruby = (struct interp_ruby){
			.frame_size = file->ruby->frame_size,
			.lines = file->ruby->lines,
			.lines_index = file->ruby->line_index,
			.line_count = file->ruby->line_count,
			.line_size = file->ruby->line_size,
			.wide_strings = file->ruby->wide_strings,
		};
		if (file->ruby->by_thread)
			interpreter->process.through = file->ruby->thread_context;
		return true;
	}
	if (!python_layout_find(file->python_minor, &interpreter->python) &&
	    (!target_read(memory, bias + file->runtime, offsets, sizeof(offsets)) ||
	     !python_layout_read(offsets, &interpreter->python)))
		return false;
	interpreter->python.code_type = bias + file->code_type;
	interpreter->process.python = interpreter->python.walk;
	interpreter->code_end =
		target_word(memory, interpreter->python.code_type + PYTHON_TYPE_DEALLOC);
	return true;
}

int interpreter_find(const struct interp_file *file, uint64_t start,
		     const struct target_memory *memory, const struct memory_range *ranges,
		     size_t range_count, struct interpreter *ret_interpreter)
{
	struct interpreter found = { .kind = file->kind, .process.kind = file->kind };
	uint64_t bias = start - file->base;
	int code;

	if (!interp_set_layout(&found, file, bias, memory))
		return -ENOTSUP;
	if (file->loop && file->loop_size) {
		found.loop_start = bias + file->loop;
		found.loop_end = found.loop_start + file->loop_size;
	}
	code = interp_find_anchor(&found, start, memory, ranges, range_count);
	if (!code)
		*ret_interpreter = found;
	return code;
}

static uint64_t interp_live_key(const struct interpreter *interpreter,
				const struct target_memory *memory, uint64_t code)
{
	if (interpreter->kind == INTERP_RUBY)
		return ruby_name_key(memory, code);
	return python_name_key(&interpreter->python, memory, code);
}

/* By the memory of the process alone. */
static bool interp_name_live(const struct interpreter *interpreter,
			     const struct target_memory *memory, const struct interp_frame *frame,
			     struct interp_name *ret_name)
{
	if (interpreter->kind == INTERP_RUBY)
		return ruby_name_frame(interpreter->ruby, memory, frame->code, frame->at, ret_name);
	return python_name_frame(&interpreter->python, memory, frame->code, (int64_t)frame->at,
				 ret_name);
}

bool interpreter_name(const struct interpreter *interpreter, const struct target_memory *memory,
		      const struct interp_frame *frame, const struct interp_code *copy,
		      struct interp_name *ret_name)
{
	/* Other code may stand there by now. */
	if (!copy && frame->content)
		return false;
	if (!copy)
		return interp_name_live(interpreter, memory, frame, ret_name);
	if (interpreter->kind == INTERP_RUBY)
		return ruby_name_copy(interpreter->ruby, memory, copy, frame->at, ret_name);
	return python_name_copy(&interpreter->python, memory, copy, (int64_t)frame->at, ret_name);
}

uint64_t interpreter_key(const struct interpreter *interpreter, const struct target_memory *memory,
			 const struct interp_frame *frame)
{
	return frame->content ? frame->content : interp_live_key(interpreter, memory, frame->code);
}

const char *interp_file_describe(const struct interp_file *file, char text[64])
{
	snprintf(text, 64, "%s %s", file->kind == INTERP_RUBY ? "Ruby" : "Python",
		 file->version[0] ? file->version : "of an unknown version");
	return text;
}
