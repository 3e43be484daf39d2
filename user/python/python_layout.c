/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_layout.h. */
#include "python/python_layout.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "interp/frames_ops.h"
#include "python/python_gc_counter.h"
#include "python/python_name.h"
#include "python/python_release.h"

/* A type's function that ends an object. */
#define PYTHON_TYPE_DEALLOC 48

/* Frames that a check looks at, from the innermost one on. */
#define CHECKED_MAX 64

/* The row of a release as a layout; without the offsets that a process has itself. */
static struct python_layout layout_of_release(const struct python_release *release)
{
	struct python_layout layout = { .minor = release->minor,
					.walk = release->walk,
					.identity = release->identity,
					.lines = release->lines };

	layout.walk.filename = release->code_file;
	layout.walk.lines = release->code_lines;
	layout.walk.text = release->text;
	layout.walk.wide_text = release->wide_text;
	return layout;
}

bool python_layout_find(unsigned int minor, struct python_layout *ret_layout)
{
	const struct python_release *release = python_release_find(minor);

	if (!release || !release->walk.frame_size)
		return false;
	*ret_layout = layout_of_release(release);
	return true;
}

/* The words of _Py_DebugOffsets in 3.13. */
enum offsets_word {
	OFFSETS_COOKIE = 0,
	OFFSETS_VERSION = 1,
	OFFSETS_FREE_THREADED = 2,
	OFFSETS_STATE_FRAME = 23,
	OFFSETS_STATE_IDENTITY = 24,
	OFFSETS_FRAME_SIZE = 28,
	OFFSETS_FRAME_PREVIOUS = 29,
	OFFSETS_FRAME_CODE = 30,
	OFFSETS_FRAME_POSITION = 31,
	OFFSETS_FRAME_OWNER = 33,
	OFFSETS_CODE_FILENAME = 35,
	OFFSETS_CODE_QUALNAME = 37,
	OFFSETS_CODE_LINES = 38,
	OFFSETS_CODE_FIRST_LINE = 39,
	OFFSETS_CODE_BYTECODE = 43,
	OFFSETS_TYPE = 45,
	OFFSETS_BYTES_LENGTH = 65,
	OFFSETS_BYTES = 66,
	OFFSETS_TEXT_STATE = 68,
	OFFSETS_TEXT_LENGTH = 69,
	OFFSETS_TEXT = 70,
	OFFSETS_WORDS = PYTHON_OFFSETS_SIZE / 8,
};

/* Fields must be within what BPF programs read. */
static bool layout_is_walkable(const struct interp_python *walk)
{
	uint32_t fields[] = { walk->previous, walk->code, walk->position, walk->entry & ~7u };
	uint32_t parts[] = { walk->filename, walk->name, walk->lines, walk->first_line & ~7u };
	size_t i;

	if (walk->frame_size > INTERP_PYTHON_FRAME_MAX || walk->frame_size < 8)
		return false;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i] % 8 || fields[i] > walk->frame_size - 8)
			return false;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] % 8 || parts[i] > INTERP_CODE_FIELDS - 8)
			return false;
	return walk->state_frame <= UINT16_MAX && walk->bytecode <= UINT16_MAX;
}

bool python_layout_read(const uint8_t bytes[PYTHON_OFFSETS_SIZE], struct python_layout *ret_layout)
{
	const struct python_release *release;
	uint64_t words[OFFSETS_WORDS];
	struct python_layout layout;
	size_t i;

	memcpy(words, bytes, sizeof(words));
	release = words[OFFSETS_VERSION] >> 24 == 3
			  ? python_release_find(words[OFFSETS_VERSION] >> 16 & 0xff)
			  : NULL;
	if (memcmp(bytes, "xdebugpy", 8) || !release || !release->describes_itself ||
	    words[OFFSETS_FREE_THREADED] || words[OFFSETS_TYPE] != PYTHON_TYPE ||
	    words[OFFSETS_BYTES_LENGTH] != PYTHON_LENGTH || words[OFFSETS_BYTES] != PYTHON_BYTES ||
	    words[OFFSETS_TEXT_LENGTH] != PYTHON_LENGTH ||
	    words[OFFSETS_TEXT_STATE] != PYTHON_STATE)
		return false;
	for (i = OFFSETS_FREE_THREADED; i < OFFSETS_WORDS; i++)
		if (words[i] > UINT32_MAX)
			return false;
	layout = layout_of_release(release);
	layout.walk.state_frame = (uint32_t)words[OFFSETS_STATE_FRAME];
	layout.walk.frame_size = (uint32_t)words[OFFSETS_FRAME_SIZE] & ~7u;
	layout.walk.previous = (uint32_t)words[OFFSETS_FRAME_PREVIOUS];
	layout.walk.code = (uint32_t)words[OFFSETS_FRAME_CODE];
	layout.walk.position = (uint32_t)words[OFFSETS_FRAME_POSITION];
	layout.walk.entry = (uint32_t)words[OFFSETS_FRAME_OWNER];
	layout.walk.bytecode = (uint32_t)words[OFFSETS_CODE_BYTECODE];
	layout.walk.filename = (uint32_t)words[OFFSETS_CODE_FILENAME];
	layout.walk.name = (uint32_t)words[OFFSETS_CODE_QUALNAME];
	layout.walk.lines = (uint32_t)words[OFFSETS_CODE_LINES];
	layout.walk.first_line = (uint32_t)words[OFFSETS_CODE_FIRST_LINE];
	layout.identity = (uint32_t)words[OFFSETS_STATE_IDENTITY];
	layout.walk.text = (uint32_t)words[OFFSETS_TEXT];
	layout.walk.wide_text = layout.walk.text + 16;
	if (!layout_is_walkable(&layout.walk) || layout.walk.text > UINT16_MAX ||
	    layout.identity > UINT16_MAX)
		return false;
	*ret_layout = layout;
	return true;
}

bool python_layout_is_state(const struct python_layout *layout, const struct target_memory *memory,
			    uint64_t state, uint64_t identity)
{
	return state && !(state & 7) && identity &&
	       target_word(memory, state + layout->identity) == identity;
}

static bool layout_read_frame(const struct python_layout *layout,
			      const struct target_memory *memory, uint64_t frame,
			      uint8_t bytes[INTERP_PYTHON_FRAME_MAX])
{
	return !(frame & 7) && layout_is_walkable(&layout->walk) &&
	       target_read(memory, frame, bytes, layout->walk.frame_size);
}

static uint64_t layout_word(const uint8_t *bytes, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

bool python_layout_check(const struct python_layout *layout, const struct target_memory *memory,
			 uint64_t state)
{
	const struct interp_python *walk = &layout->walk;
	uint8_t bytes[INTERP_PYTHON_FRAME_MAX];
	uint64_t at = state + walk->state_frame, frame;
	unsigned int good = 0, looked;
	struct interp_name name;

	if (walk->indirect)
		at = target_word(memory, at) + walk->indirect_frame;
	if (!target_read_word(memory, at, &frame))
		return false;
	for (looked = 0; frame && looked < CHECKED_MAX; looked++) {
		if (!layout_read_frame(layout, memory, frame, bytes))
			return false;
		frame = layout_word(bytes, walk->previous);
		if (walk->entry_kind == INTERP_ENTRY_SHIM &&
		    bytes[walk->entry] == INTERP_OWNER_LOOP)
			continue;
		if (!python_name_frame(layout, memory, layout_word(bytes, walk->code), 0, &name) ||
		    !name.file[0])
			return false;
		good++;
	}
	return good;
}

/* 9 of ".../libpython3.9.so.1.0" and ".../python3.9"; 0 if the name has no version. */
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

/* The minor number of the text "3.8.16" that is between two NULs; 0 if there is no such text. */
static unsigned int python_minor_of_bytes(const char *bytes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
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

/* From 3.11 on the version is exported. */
static unsigned int python_minor(struct elf_file *file, const char *path)
{
	uint64_t exported = interp_file_symbol(file, "Py_Version");
	unsigned int minor;
	uint64_t version;

	if (interp_file_read_at(file, exported, &version, sizeof(version)) == sizeof(version))
		return version >> 24 == 3 ? version >> 16 & 0xff : 0;
	minor = python_minor_of_path(path);
	return minor ? minor : interp_file_search(file, python_minor_of_bytes);
}

static bool python_read_file(struct elf_file *file, const char *path, struct interp_file *interp)
{
	char text[INTERP_VERSION_MAX];
	int length;

	interp->globals = interp_file_symbol(file, "_PyRuntime");
	if (!interp->globals)
		return false;
	interp->minor = python_minor(file, path);
	length = snprintf(text, sizeof(text), "3.%u", interp->minor);
	interp_file_set_version(interp, text, (size_t)length);
	interp->code_type = interp_file_symbol(file, "PyCode_Type");
	interp_file_set_loop(file, "_PyEval_EvalFrameDefault", interp);
	return true;
}

/* From 3.13 on, the process has the layout. */
static bool python_knows(const struct interp_file *interp)
{
	const struct python_release *release = python_release_find(interp->minor);

	return interp->code_type && release &&
	       (release->describes_itself || release->walk.frame_size);
}

static bool python_set_layout(struct interpreter *interpreter, const struct interp_file *file,
			      uint64_t bias, const struct target_memory *memory)
{
	struct python_layout layout;
	uint8_t offsets[PYTHON_OFFSETS_SIZE];

	if (!python_layout_find(file->minor, &layout) &&
	    (!target_read(memory, bias + file->globals, offsets, sizeof(offsets)) ||
	     !python_layout_read(offsets, &layout)))
		return false;
	layout.code_type = bias + file->code_type;
	python_layout_keep(interpreter, &layout);
	interpreter->process.python = layout.walk;
	interpreter->code_end = target_word(memory, layout.code_type + PYTHON_TYPE_DEALLOC);
	return true;
}

static bool python_is_state(const struct interpreter *interpreter,
			    const struct target_memory *memory, uint64_t state, uint64_t identity)
{
	const struct python_layout layout = python_layout_of(interpreter);

	return python_layout_is_state(&layout, memory, state, identity);
}

static bool python_check(const struct interpreter *interpreter, const struct target_memory *memory,
			 uint64_t state)
{
	const struct python_layout layout = python_layout_of(interpreter);

	return python_layout_check(&layout, memory, state);
}

static bool python_name_live(const struct interpreter *interpreter,
			     const struct target_memory *memory, const struct interp_frame *frame,
			     struct interp_name *ret_name)
{
	const struct python_layout layout = python_layout_of(interpreter);

	return python_name_frame(&layout, memory, frame->code, (int64_t)frame->at, ret_name);
}

static bool python_name_copied(const struct interpreter *interpreter,
			       const struct target_memory *memory, const struct interp_frame *frame,
			       const struct interp_code *copy, struct interp_name *ret_name)
{
	const struct python_layout layout = python_layout_of(interpreter);

	return python_name_copy(&layout, memory, copy, (int64_t)frame->at, ret_name);
}

static uint64_t python_key(const struct interpreter *interpreter,
			   const struct target_memory *memory, uint64_t code)
{
	const struct python_layout layout = python_layout_of(interpreter);

	return python_name_key(&layout, memory, code);
}

const struct frames_ops python_ops = {
	.launcher = "python",
	.read_file = python_read_file,
	.knows = python_knows,
	.set_layout = python_set_layout,
	.is_state = python_is_state,
	.check = python_check,
	.name_frame = python_name_live,
	.name_copy = python_name_copied,
	.key = python_key,
	.has_gc_counter = python_gc_counter_is_known,
	.find_gc_counter = python_gc_counter_find,
};
