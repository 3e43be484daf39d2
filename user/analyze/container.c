/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See container.h. A stripped interpreter has names for what it exports only, and these are enough: rb_ary_push is on the stack
 * when a function without a name resizes the array.
 */
#include "analyze/container.h"

#include <string.h>

#include "analyze/cxx_name.h"

/* Functions whose names begin so. */
struct container_row {
	const char *prefix;
	const char *container; /* NULL = it allocates for others */
};

static const struct container_row ruby_rows[] = {
	{ "rb_ary_", "a Ruby Array" },
	{ "ary_", "a Ruby Array" },
	{ "rb_hash_", "a Ruby Hash" },
	{ "hash_", "a Ruby Hash" },
	{ "rb_str_", "a Ruby String" },
	{ "str_", "a Ruby String" },
	{ "rb_enc_str_", "a Ruby String" },
	{ "rb_utf8_str_", "a Ruby String" },
	{ "rb_usascii_str_", "a Ruby String" },
	{ "rb_external_str_", "a Ruby String" },
	{ "rb_struct_", "a Ruby Struct" },
	{ "rb_ivar_set", "a Ruby object's variables" },
	{ "rb_obj_ivar_set", "a Ruby object's variables" },
	{ NULL, NULL },
};

static const struct container_row python_rows[] = {
	{ "list_", "a Python list" },
	{ "PyList_", "a Python list" },
	{ "_PyList_", "a Python list" },
	{ "dict_", "a Python dict" },
	{ "dictresize", "a Python dict" },
	{ "insertdict", "a Python dict" },
	{ "new_keys_object", "a Python dict" },
	{ "PyDict_", "a Python dict" },
	{ "_PyDict_", "a Python dict" },
	{ "set_add", "a Python set" },
	{ "set_table_resize", "a Python set" },
	{ "set_update", "a Python set" },
	{ "set_merge", "a Python set" },
	{ "PySet_", "a Python set" },
	{ "_PySet_", "a Python set" },
	{ "bytearray_", "a Python bytearray" },
	{ "PyByteArray_", "a Python bytearray" },
	{ "PyBytes_", "Python bytes" },
	{ "_PyBytes", "Python bytes" },
	{ "PyUnicode_", "a Python str" },
	{ "_PyUnicode", "a Python str" },
	{ "unicode_", "a Python str" },
	{ "PyTuple_", "a Python tuple" },
	{ "_PyTuple_", "a Python tuple" },
	{ "deque_", "a Python deque" },
	{ NULL, NULL },
};

/* The types that a C++ library's containers are made of come first on the stack. */
static const struct container_row native_rows[] = {
	{ "std::vector<", "a std::vector" },
	{ "std::_Vector_base<", "a std::vector" },
	{ "std::_Bvector_base<", "a std::vector" },
	{ "std::__cxx11::basic_string<", "a std::string" },
	{ "std::basic_string<", "a std::string" },
	{ "std::string::", "a std::string" },
	{ "std::deque<", "a std::deque" },
	{ "std::_Deque_base<", "a std::deque" },
	{ "std::__cxx11::list<", "a std::list" },
	{ "std::__cxx11::_List_base<", "a std::list" },
	{ "std::_Rb_tree<", "a std::map or std::set" },
	{ "std::_Hashtable<", "a std::unordered_map or std::unordered_set" },
	{ "std::__detail::_Hashtable_alloc<", "a std::unordered_map or std::unordered_set" },
	{ "std::__1::vector<", "a std::vector" },
	{ "std::__1::basic_string<", "a std::string" },
	{ "std::__1::deque<", "a std::deque" },
	{ "std::__1::list<", "a std::list" },
	{ "std::__1::__tree<", "a std::map or std::set" },
	{ "std::__1::__hash_table<", "a std::unordered_map or std::unordered_set" },
	{ "alloc::raw_vec::", "a Rust Vec or String" },
	{ "<alloc::raw_vec::", "a Rust Vec or String" },
	{ "hashbrown::raw::", "a Rust HashMap or HashSet" },
	{ "alloc::alloc::", NULL },
	{ "<alloc::alloc::", NULL },
	{ "__rust_", NULL },
	{ "__rdl_", NULL },
	{ "g_array_", "a GArray" },
	{ "g_ptr_array_", "a GPtrArray" },
	{ "g_byte_array_", "a GByteArray" },
	{ "g_string_", "a GString" },
	{ "g_hash_table_", "a GHashTable" },
	{ NULL, NULL },
};

static const struct container_row *container_find(const struct container_row *rows,
						  const char *function)
{
	for (; rows && rows->prefix; rows++)
		if (!strncmp(function, rows->prefix, strlen(rows->prefix)))
			return rows;
	return NULL;
}

/* The containers of the interpreter that made the call; NULL = none that is known. */
static const struct container_row *container_rows(const struct stack *stack)
{
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		if (stack->frames[i].kind == FRAME_RUBY)
			return ruby_rows;
		if (stack->frames[i].kind == FRAME_PYTHON)
			return python_rows;
		if (frame_is_interpreted(stack->frames[i].kind))
			return NULL;
	}
	return NULL;
}

/* Look at the functions of a frame. False ends the search. */
static bool container_see_frame(const struct frame *frame, const struct container_row *own,
				struct judge *judge, const char **ret_container)
{
	struct frame_walk walk = frame_walk_begin(frame, judge_names(judge));
	const struct container_row *row;
	struct frame_view view;

	while (frame_walk_next(&walk, &view)) {
		if (!view.function && frame->internal)
			continue;
		if (!view.function)
			return false;
		row = frame->internal ? container_find(own, view.function)
				      : container_find(native_rows, cxx_name_begin(view.function));
		if (row && row->container) {
			*ret_container = row->container;
			return false;
		}
		if (!frame->internal && !row && !judge_folds(judge, &view))
			return false;
	}
	return true;
}

const char *container_of_stack(const struct stack *stack, struct judge *judge)
{
	const struct container_row *own = container_rows(stack);
	const char *container = NULL;
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (stack->frames[i].kind != FRAME_NATIVE || stack->frames[i].whole ||
		    !container_see_frame(&stack->frames[i], own, judge, &container))
			break;
	return container;
}
