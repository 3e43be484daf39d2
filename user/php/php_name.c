/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See php_name.h. */
#include "php/php_name.h"

#include <string.h>

#include "base/hash.h"
#include "interp/interp_copy.h"

/* Longer than any name or path. */
#define LENGTH_MAX (1u << 20)

/* Copy a string, cut to `size` - 1 bytes, up to its first NUL: names of anonymous classes go on behind one. */
static bool php_copy_string(const struct target_memory *memory, uint64_t string, char *text,
			    size_t size)
{
	uint64_t length = target_word(memory, string + PHP_STRING_LENGTH);

	if (!string || string & 7 || !length || length > LENGTH_MAX)
		return false;
	if (length >= size)
		length = size - 1;
	if (!target_read(memory, string + PHP_STRING_BYTES, text, length))
		return false;
	text[length] = '\0';
	return text[0];
}

/* Code of a file, or of eval. */
static const char *php_code_name(uint32_t type, bool is_entry)
{
	if (type == PHP_EVAL_CODE)
		return "eval";
	return is_entry ? "{main}" : "include";
}

/* "Class::" of a method, "" of a function. */
static bool php_copy_class(const struct target_memory *memory, uint64_t class, char *text,
			   size_t size)
{
	size_t length;

	text[0] = '\0';
	if (!class)
		return true;
	if (!php_copy_string(memory, target_word(memory, class + PHP_CLASS_NAME), text, size - 2))
		return false;
	length = strlen(text);
	memcpy(text + length, "::", 3);
	return true;
}

/* "function" or "Class::method". */
static bool php_copy_function(const struct target_memory *memory, uint64_t function, uint64_t class,
			      char *text, size_t size)
{
	size_t used;

	if (!php_copy_class(memory, class, text, size / 2))
		return false;
	used = strlen(text);
	return php_copy_string(memory, function, text + used, size - used);
}

bool php_name_frame(const struct php_layout *layout, const struct target_memory *memory,
		    const struct interp_frame *frame, struct interp_name *ret_name)
{
	uint64_t words[PHP_FUNCTION_SCOPE / 8 + 1]; /* kind and flags, name, class */
	uint32_t type;

	if (!frame->code || frame->code & 7 ||
	    !target_read(memory, frame->code, words, sizeof(words)))
		return false;
	type = words[0] & 0xff;
	memset(ret_name, 0, sizeof(*ret_name));
	ret_name->line = frame->at & INT32_MAX;
	if (type != PHP_INTERNAL_FUNCTION && type != PHP_USER_FUNCTION && type != PHP_EVAL_CODE)
		return false;
	if (type != PHP_INTERNAL_FUNCTION &&
	    !php_copy_string(memory, target_word(memory, frame->code + layout->walk.filename),
			     ret_name->file, sizeof(ret_name->file)))
		return false;
	if (words[PHP_FUNCTION_NAME / 8])
		return php_copy_function(memory, words[PHP_FUNCTION_NAME / 8],
					 words[PHP_FUNCTION_SCOPE / 8], ret_name->function,
					 sizeof(ret_name->function));
	strcpy(ret_name->function, php_code_name(type, frame->at >> 32));
	return true;
}

uint64_t php_name_key(const struct php_layout *layout, const struct target_memory *memory,
		      uint64_t function)
{
	uint64_t words[PHP_FUNCTION_SCOPE / 8 + 1];

	if (!target_read(memory, function, words, sizeof(words)))
		return 0;
	if ((words[0] & 0xff) != PHP_INTERNAL_FUNCTION)
		words[0] =
			hash_word(words[0], target_word(memory, function + layout->walk.filename));
	return hash_word(hash_word(hash_word(function, words[0]), words[1]), words[2]);
}

bool php_name_copy(const struct php_layout *layout, const struct target_memory *memory,
		   const struct interp_frame *frame, const struct interp_code *code,
		   struct interp_name *ret_name)
{
	struct interp_copy copy = { .code = code, .below = memory };
	struct target_memory both = interp_copy_memory(&copy);
	struct interp_frame copied = *frame;
	uint64_t function = code->parts[INTERP_PART_CODE].address;
	bool good;

	copied.code = function;
	good = php_name_frame(layout, &both, &copied, ret_name);
	copy.below = NULL;
	if (!copy.asked ||
	    php_name_key(layout, memory, function) == php_name_key(layout, &both, function))
		return good;
	return php_name_frame(layout, &both, &copied, ret_name);
}
