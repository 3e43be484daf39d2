/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions named on the command line: see named.h. */
#include "probe/named.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "tracer_abi.h"

/* BPF programs read this many arguments. */
#define ARGUMENTS_MAX 5
#define FUNCTIONS_MAX 256

/* No block is as large as all addresses of a process; sums of many such sizes overflow 64 bits. */
#define FIXED_SIZE_MAX (UINT64_C(1) << 47)

/* Of an argument that is an int or unsigned int: the upper half of its register may hold anything. */
#define INT_SUFFIX "/32"

/* The keys' values, before it is known whether they go together. Arguments count from 1; 0 = not given. */
struct keys {
	uint64_t size, count, pointer, old;
	uint64_t fixed_size;
	bool size_given, result_given;
};

#define NAMED_REFUSE(error, ...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

static bool named_parse_argument(const char *text, uint64_t *ret_argument)
{
	uint64_t argument;

	if (strncmp(text, "arg", 3) != 0 ||
	    !units_parse_number(text + 3, ARGUMENTS_MAX, &argument) || !argument)
		return false;
	*ret_argument = argument;
	return true;
}

/* The same for a number, which may have 32 bits only: "arg1/32". */
static bool named_parse_number(const char *text, uint64_t *ret_argument)
{
	size_t length = strlen(text), suffix = strlen(INT_SUFFIX);
	bool is_int = length > suffix && !strcmp(text + length - suffix, INT_SUFFIX);
	char *argument = memory_copy_string(text);
	bool taken;

	if (is_int)
		argument[length - suffix] = '\0';
	taken = named_parse_argument(argument, ret_argument);
	if (taken && is_int)
		*ret_argument |= ARG_IS_INT;
	free(argument);
	return taken;
}

static int keys_set_argument(uint64_t *field, const char *key, const char *value,
			     struct error *error)
{
	if (*field)
		return NAMED_REFUSE(error, "%s= is given twice", key);
	if (!named_parse_argument(value, field))
		return NAMED_REFUSE(error, "'%s' is not one of arg1 to arg5", value);
	return 0;
}

static int keys_set_size(struct keys *keys, const char *value, struct error *error)
{
	if (keys->size_given)
		return NAMED_REFUSE(error, "size= is given twice");
	keys->size_given = true;
	if (named_parse_number(value, &keys->size) ||
	    (units_parse_size(value, &keys->fixed_size) && keys->fixed_size &&
	     keys->fixed_size < FIXED_SIZE_MAX))
		return 0;
	return NAMED_REFUSE(error, "'%s' is neither one of arg1 to arg5 nor a size such as 64",
			    value);
}

static int keys_set_count(struct keys *keys, const char *value, struct error *error)
{
	if (keys->count)
		return NAMED_REFUSE(error, "count= is given twice");
	if (!named_parse_number(value, &keys->count))
		return NAMED_REFUSE(error, "'%s' is not one of arg1 to arg5", value);
	return 0;
}

/* Where the block of a function that allocates is: "ret", "ptr=ret", or "ptr=argN". */
static int keys_set_place(struct keys *keys, const char *key, const char *value,
			  struct error *error)
{
	if (keys->result_given || keys->pointer)
		return NAMED_REFUSE(error, "where the block is, is given twice");
	if (!strcmp(key, "ret") && value)
		return NAMED_REFUSE(error, "ret takes no value");
	keys->result_given = !value || !strcmp(value, "ret");
	return keys->result_given ? 0 : keys_set_argument(&keys->pointer, key, value, error);
}

/* One "KEY=VALUE", or "ret". */
static int keys_set(struct keys *keys, char *key, bool frees, struct error *error)
{
	char *value = strchr(key, '=');

	if (value)
		*value++ = '\0';
	if (!frees && !strcmp(key, "ret"))
		return keys_set_place(keys, key, value, error);
	if (!value)
		return NAMED_REFUSE(error, "'%s' has no value", key);
	if (!strcmp(key, "ptr"))
		return frees ? keys_set_argument(&keys->pointer, key, value, error)
			     : keys_set_place(keys, key, value, error);
	if (!frees && !strcmp(key, "size"))
		return keys_set_size(keys, value, error);
	if (!frees && !strcmp(key, "count"))
		return keys_set_count(keys, value, error);
	if (!frees && !strcmp(key, "old"))
		return keys_set_argument(&keys->old, key, value, error);
	if (frees)
		return NAMED_REFUSE(error, "'%s' is not ptr", key);
	return NAMED_REFUSE(error, "'%s' is none of size, count, ret, ptr, old", key);
}

static int keys_parse(struct keys *keys, char *text, bool frees, struct error *error)
{
	char *next, *place = NULL;
	int code = 0;

	for (next = strtok_r(text, ",", &place); next && !code; next = strtok_r(NULL, ",", &place))
		code = keys_set(keys, next, frees, error);
	if (code || frees)
		return code;
	if (!keys->size_given)
		return NAMED_REFUSE(error, "the size of a block is missing: size=argN, or size=64 "
					   "where all have one");
	if (keys->old && keys->pointer)
		return NAMED_REFUSE(error, "old= and ptr=argN do not go together");
	return 0;
}

/* C++ functions may throw, and C functions do not. */
static enum call_result named_result(const struct keys *keys, const char *symbol)
{
	if (keys->pointer)
		return RESULT_OUT_STATUS;
	return strncmp(symbol, "_Z", 2) == 0 ? RESULT_POINTER_OR_THROWS : RESULT_POINTER;
}

static uint64_t named_shape(const struct keys *keys, const char *symbol, bool frees)
{
	if (frees)
		return SHAPE_NAMED | SHAPE(CALL_FREE, 0, 0, keys->pointer ? keys->pointer : 1,
					   RESULT_FREES_INSIDE, SOURCE_HEAP);
	return SHAPE_NAMED | SHAPE(keys->old ? CALL_REALLOC : CALL_ALLOC,
				   keys->size ? keys->size : SIZE_ARG_FIXED, keys->count,
				   keys->old ? keys->old : keys->pointer,
				   named_result(keys, symbol), SOURCE_HEAP);
}

/* The text up to the first colon, from there to the last one, and the rest. "a::b" is a name of C++. */
static int named_split(struct named_function *named, char *text, char **ret_keys,
		       struct error *error)
{
	char *function = strchr(text, ':');
	char *keys = strrchr(text, ':');

	if (!function || function == text || !function[1])
		return NAMED_REFUSE(error, "FILE:FUNCTION:KEY=VALUE,... is wanted");
	if (keys == function)
		keys = NULL;
	if (keys)
		*keys++ = '\0';
	*function++ = '\0';
	if (!*function)
		return NAMED_REFUSE(error, "the name of the function is missing");
	named->file = memory_copy_string(text);
	named->symbol = memory_copy_string(function);
	*ret_keys = keys;
	return 0;
}

static void named_free(struct named_function *named)
{
	free(named->text);
	free(named->file);
	free(named->symbol);
}

int named_add(struct named_list *list, const char *text, bool frees, struct error *error)
{
	struct named_function named = { .text = memory_copy_string(text) };
	char *copy = memory_copy_string(text), *rest = NULL, none[] = "";
	struct keys keys = { 0 };
	int code = named_split(&named, copy, &rest, error);

	if (!code && list->count == FUNCTIONS_MAX)
		code = NAMED_REFUSE(error, "there are too many of them");
	if (!code)
		code = keys_parse(&keys, rest ? rest : none, frees, error);
	if (!code) {
		named.row = (struct allocator_function){
			.symbol = named.symbol,
			.name = named.symbol,
			.shape = named_shape(&keys, named.symbol, frees),
			.fixed_size = keys.fixed_size,
		};
		list->items = memory_grow(list->items, list->count, &list->capacity,
					  sizeof(*list->items));
		list->items[list->count++] = named;
	} else {
		named_free(&named);
	}
	free(copy);
	return code;
}

bool named_matches(const struct named_function *named, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(named->file);

	if (strcmp(named->file, "*") == 0)
		return true;
	if (strchr(named->file, '/'))
		return strcmp(named->file, path) == 0;
	return strncmp(named->file, name, length) == 0 && (!name[length] || name[length] == '.');
}

void named_list_free(struct named_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		named_free(&list->items[i]);
	free(list->items);
	*list = (struct named_list){ 0 };
}

/*
 * Go finds its way by the return addresses on a stack that it moves; a return probe has put another one there, which ends
 * the process. What C code does within such a program is on stacks that stay.
 */
bool named_stack_moves(const struct named_function *named, struct elf_file *file)
{
	enum call_op op = SHAPE_OP(named->row.shape);

	if (op == CALL_FREE || !elf_file_has_section(file, ".gopclntab"))
		return false;
	return strchr(named->symbol, '.');
}
