/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What containers stacks are of. Truth: stacks as interpreters and libraries were seen to make them, and a person's judgement. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/container.h"
#include "unit/sample.h"

#define FRAMES_MAX 12

static const struct frame_name push_line = { "push", "grow.rb", 5 };

/* Whose a frame is. */
enum whose { NONE, INTERPRETER, NATIVE, RUBY, PYTHON, PHP, INLINED };

struct call {
	enum whose whose;
	const char *function; /* NULL = it has no name */
};

static struct frame frame_of(struct sample *sample, const struct call *call)
{
	struct frame frame = { .module = 0, .internal = call->whose == INTERPRETER };

	if (call->whose == RUBY || call->whose == PYTHON || call->whose == PHP) {
		frame.kind = call->whose == RUBY     ? FRAME_RUBY
			     : call->whose == PYTHON ? FRAME_PYTHON
						     : FRAME_PHP;
		frame.name = &push_line;
	}
	frame.address = call->whose == INLINED
				? sample_inlined(sample, call->function, "main", "a.cc", 3)
				: sample_name(sample, call->function, NULL, 0);
	return frame;
}

static void check(const struct call *calls, const char *expected)
{
	struct sample *sample = sample_new_empty(1);
	const struct report_names names = sample_names(sample);
	struct judge *judge = judge_new(&sample->snapshot, NULL, &names);
	struct frame frames[FRAMES_MAX];
	const char *container;
	size_t count = 0;

	sample_module(sample, "/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", 0);
	for (; calls[count].whose; count++)
		frames[count] = frame_of(sample, &calls[count]);
	container = container_of_stack(sample_stack(sample, frames, count), judge);
	if (expected)
		assert_non_null(container);
	if (expected)
		assert_string_equal(container, expected);
	else
		assert_null(container);
	judge_free(judge);
	sample_free(sample);
}

#define CHECK(expected, ...) check((const struct call[]){ __VA_ARGS__, { NONE, NULL } }, expected)

/* libruby as Debian strips it: of `array << 1` there is one name. */
static void test_ruby(void **state)
{
	(void)state;
	CHECK("a Ruby Array", { INTERPRETER, NULL }, { INTERPRETER, NULL },
	      { INTERPRETER, "rb_ary_push" }, { INTERPRETER, NULL }, { RUBY, NULL });
	CHECK("a Ruby Array", { INTERPRETER, "objspace_xrealloc.isra.0" },
	      { INTERPRETER, "ary_ensure_room_for_push" }, { RUBY, NULL });
	/* A table is a Hash's if a function of that has asked for it: symbols and methods are in such tables, too. */
	CHECK("a Ruby Hash", { INTERPRETER, "rb_st_init_table_with_size" },
	      { INTERPRETER, "rb_st_update" }, { INTERPRETER, NULL },
	      { INTERPRETER, "rb_hash_aset" }, { RUBY, NULL });
	CHECK(NULL, { INTERPRETER, "rb_st_init_table_with_size" }, { INTERPRETER, "rb_st_update" },
	      { INTERPRETER, "rb_intern3" }, { RUBY, NULL });
	/* The key that a Hash copies is a String. */
	CHECK("a Ruby String", { INTERPRETER, "rb_str_new_frozen" },
	      { INTERPRETER, "rb_hash_aset" }, { RUBY, NULL });
	/* What is further out than Ruby code has nothing to do with it. */
	CHECK(NULL, { INTERPRETER, NULL }, { RUBY, NULL }, { INTERPRETER, "rb_ary_each" },
	      { RUBY, NULL });
	/* An extension's own memory, though it is called for each element. */
	CHECK(NULL, { NATIVE, "keep" }, { INTERPRETER, "rb_ary_each" }, { RUBY, NULL });
	CHECK(NULL, { NATIVE, NULL }, { INTERPRETER, "rb_ary_each" }, { RUBY, NULL });
	/* Names mean nothing in other code. */
	CHECK(NULL, { INTERPRETER, "list_resize" }, { RUBY, NULL });
	CHECK(NULL, { INTERPRETER, "rb_ary_push" }, { PHP, NULL });
	CHECK(NULL, { NATIVE, "rb_ary_push" }, { NATIVE, "main" });
}

static void test_python(void **state)
{
	(void)state;
	CHECK("a Python list", { INTERPRETER, "list_resize" },
	      { INTERPRETER, "_PyList_AppendTakeRefListResize" }, { PYTHON, NULL });
	CHECK("a Python dict", { INTERPRETER, "_PyObject_Malloc" },
	      { INTERPRETER, "new_keys_object" }, { INTERPRETER, "dictresize" }, { PYTHON, NULL });
	CHECK("a Python bytearray", { INTERPRETER, "PyByteArray_Resize" }, { PYTHON, NULL });
	CHECK(NULL, { INTERPRETER, NULL }, { INTERPRETER, "PyObject_Realloc" }, { PYTHON, NULL });
	CHECK(NULL, { PYTHON, NULL });
}

static void test_native(void **state)
{
	(void)state;
	CHECK("a std::vector", { NATIVE, "operator new(unsigned long)" },
	      { NATIVE, "std::__new_allocator<int>::allocate(unsigned long, void const*)" },
	      { NATIVE, "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>()" },
	      { NATIVE, "push(int)" });
	/* The text of a key is a string's, in whatever container that is. */
	CHECK("a std::string", { NATIVE, "operator new(unsigned long)" },
	      { NATIVE, "std::__cxx11::basic_string<char>::_M_create(unsigned long&)" },
	      { NATIVE, "std::vector<std::string>::push_back(std::string const&)" },
	      { NATIVE, "push(int)" });
	CHECK("a std::vector", { INLINED, "std::vector<int>::reserve(unsigned long)" });
	/* The program's own class allocates, and is in a vector only. */
	CHECK(NULL, { NATIVE, "operator new(unsigned long)" }, { NATIVE, "shop::Item::Item()" },
	      { NATIVE, "std::vector<shop::Item>::emplace_back<>()" }, { NATIVE, "main" });
	CHECK(NULL, { NATIVE, "shop::vector<int>::grow(std::vector<int>)" }, { NATIVE, "main" });
	CHECK(NULL, { NATIVE, NULL }, { NATIVE, "std::vector<int>::push_back(int)" });
	CHECK("a GArray", { NATIVE, "g_realloc" }, { NATIVE, "g_array_append_vals" },
	      { NATIVE, "main" });
	CHECK("a Rust Vec or String", { NATIVE, "__rdl_realloc" },
	      { NATIVE, "alloc::raw_vec::finish_grow" }, { NATIVE, "main" });
	check((const struct call[]){ { NONE, NULL } }, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ruby),
					    cmocka_unit_test(test_python),
					    cmocka_unit_test(test_native) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
