/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, files, lines and inlined calls of freshly built programs, for every address of their functions. The truth is what
 * addr2line of binutils says, or llvm-symbolizer where binutils does not understand the compiler's output; for mangled
 * names it is what their schemes define.
 */
#include "symbolizer_fixture.h"

#include <ctype.h>
#include <sys/stat.h>

struct truth_frame {
	char function[1024], file[1024];
	unsigned int line;
};

static void read_line(FILE *stream, char line[1024])
{
	if (!fgets(line, 1024, stream))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
}

/* "/folder/file.c:12 (discriminator 3)" or "??:0" */
static void parse_place(const char *text, struct truth_frame *frame)
{
	const char *colon = strrchr(text, ':');

	assert_non_null(colon);
	frame->line = (unsigned int)strtoul(colon + 1, NULL, 10);
	snprintf(frame->file, sizeof(frame->file), "%.*s", (int)(colon - text), text);
}

/* Reads the frames of one address; the next one begins with "0x". Returns how many there are. */
static size_t read_frames(FILE *truth, char next[1024], struct truth_frame *frames)
{
	size_t count = 0;
	char place[1024];

	for (read_line(truth, next); next[0] && strncmp(next, "0x", 2); read_line(truth, next)) {
		assert_true(count < 32);
		read_line(truth, place);
		snprintf(frames[count].function, sizeof(frames[count].function), "%s", next);
		parse_place(place, &frames[count++]);
	}
	return count;
}

/* Templates have their return type in front of their name; a symbol has none. */
static bool is_same_function(const char *truth, const char *found)
{
	size_t extra;

	if (!found || strlen(truth) < strlen(found))
		return false;
	extra = strlen(truth) - strlen(found);
	return !strcmp(truth + extra, found) && (!extra || truth[extra - 1] == ' ');
}

static void compare(unsigned long address, const struct truth_frame *truth, size_t count,
		    const struct symbol_list *found)
{
	size_t i;

	if (count != found->count)
		fail_msg("%#lx: %zu functions instead of %zu", address, found->count, count);
	for (i = 0; i < count; i++) {
		const struct symbol *symbol = &found->items[i];

		if (!is_same_function(truth[i].function, symbol->function) || !symbol->file ||
		    strcmp(truth[i].file, symbol->file) || truth[i].line != symbol->line)
			fail_msg("%#lx, function %zu: %s %s:%u instead of %s %s:%u", address, i,
				 symbol->function, symbol->file, symbol->line, truth[i].function,
				 truth[i].file, truth[i].line);
		assert_int_equal(symbol->inlined, i + 1 < count);
		assert_int_equal(symbol->file[0], '/');
	}
}

/* Is it a function of the fixture, not one of the C library or the start files? */
static bool is_ours(const char *symbol)
{
	static const char *const names[] = { "keep", "hidden_one", "exported_one", "main" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(symbol, names[i], strlen(names[i])))
			return true;
	return !strncmp(symbol, "_Z4keep", 7) || !strncmp(symbol, "_ZN4shop", 8) ||
	       !strncmp(symbol, "_ZN12_GLOBAL__N_1", 17);
}

/* Writes all addresses of our functions into the file "addresses". */
static void list_addresses(struct fixture *fixture, const char *name)
{
	char *input = fixture_path(fixture, "symbols"), *output, line[1024], symbol[256];
	unsigned long address, size, i;
	FILE *from, *to;

	fixture_run(fixture, "nm -S --defined-only %s | grep -i ' [twi] ' | sort -u >symbols",
		    name);
	output = fixture_path(fixture, "addresses");
	from = fopen(input, "r");
	to = fopen(output, "w");
	assert_true(from && to);
	while (fgets(line, sizeof(line), from))
		if (sscanf(line, "%lx %lx %*c %255s", &address, &size, symbol) == 3 &&
		    is_ours(symbol))
			for (i = 0; i < size; i++)
				fprintf(to, "%#lx\n", address + i);
	fclose(from);
	fclose(to);
	free(input);
	free(output);
}

/* Compares every address; returns how many there were, and in `ret_inlined` how many have inlined functions. */
static size_t compare_all(struct fixture *fixture, const char *name, const char *tool,
			  size_t *ret_inlined)
{
	uint32_t module = fixture_module(fixture, name);
	struct truth_frame frames[32];
	size_t addresses = 0, count;
	unsigned long address;
	char next[1024], *path;
	FILE *truth;

	list_addresses(fixture, name);
	fixture_run(fixture, "%s -e %s <addresses | sed '/^$/d' >truth", tool, name);
	path = fixture_path(fixture, "truth");
	truth = fopen(path, "r");
	assert_non_null(truth);
	*ret_inlined = 0;
	for (read_line(truth, next); next[0]; addresses++) {
		address = strtoul(next, NULL, 16);
		count = read_frames(truth, next, frames);
		compare(address, frames, count,
			fixture_lookup(fixture, module, fixture_offset(fixture, name, address)));
		*ret_inlined += count > 1;
	}
	fclose(truth);
	free(path);
	return addresses;
}

static void test_every_address(void **state)
{
	static const char *const builds[] = {
		"gcc -O2 -gdwarf-5 program.c",
		"gcc -O2 -gdwarf-4 -static -no-pie program.c",
		"gcc -O1 -g -shared -fPIC -DLIBRARY -Wl,-z,noseparate-code program.c",
		"gcc -O2 -g -no-pie -Wl,-Ttext-segment=0x10000000 -gz program.c",
		"gcc -O2 -g -fuse-ld=lld program.c",
		"g++ -O2 -gdwarf-5 program.cc",
		"g++ -O2 -gdwarf-4 -ffunction-sections -Wl,-z,separate-code program.cc",
	};
	struct fixture fixture;
	enum log_level level;
	size_t i, inlined;
	char name[16];

	(void)state;
	fixture_begin(&fixture, NULL);
	for (i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		snprintf(name, sizeof(name), "program%zu", i);
		print_message("%s\n", builds[i]);
		fixture_run(&fixture, "%s -o %s", builds[i], name);
		assert_true(compare_all(&fixture, name, "addr2line -a -f -i -C", &inlined) > 150);
		assert_true(inlined > 50);
	}
	assert_null(symbolizer_take_complaint(fixture.symbolizer, &level));
	fixture_end(&fixture);
}

/* clang writes no .debug_aranges, and range lists that binutils 2.40 reads wrongly. */
static void test_clang(void **state)
{
	struct fixture fixture;
	size_t inlined;

	(void)state;
	if (system("command -v clang llvm-symbolizer >/dev/null"))
		skip();
	fixture_begin(&fixture, NULL);
	fixture_run(&fixture, "clang -O2 -gdwarf-5 -fuse-ld=lld program.c -o program");
	fixture_run(&fixture, "readelf -SW program | { ! grep -q debug_aranges; }");
	assert_true(compare_all(&fixture, "program",
				"llvm-symbolizer --addresses --output-style=GNU", &inlined) > 100);
	assert_true(inlined > 50);
	fixture_end(&fixture);
}

/* The program is gone, or another one has its name: the open file counts. */
static void test_deleted_and_replaced(void **state)
{
	struct fixture fixture;
	uint32_t deleted, replaced;
	const struct symbol_list *names;

	(void)state;
	fixture_begin(&fixture, NULL);
	fixture_run(&fixture, "gcc -O2 -g program.c -o program && cp program deleted");
	fixture_run(&fixture, "cp program replaced && cp program truth");
	deleted = fixture_module(&fixture, "deleted");
	replaced = fixture_module(&fixture, "replaced");
	fixture_run(&fixture, "rm deleted replaced && g++ -g program.cc -o replaced");
	names = fixture_lookup_symbol(&fixture, deleted, "truth", "keep");
	assert_string_equal(names->items[0].function, "keep");
	assert_int_equal(names->items[0].line, 7);
	names = fixture_lookup_symbol(&fixture, replaced, "truth", "keep");
	assert_string_equal(names->items[0].function, "keep");
	assert_int_equal(names->items[0].line, 7);
	fixture_end(&fixture);
}

/* Pairs from the definitions of the schemes: Itanium C++ ABI, Rust (legacy, RFC 2603) and D. */
static void test_mangled_symbols(void **state)
{
	static const struct {
		const char *symbol, *name;
	} pairs[] = {
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_ZN3foo3bar17h0123456789abcdefE", "foo::bar" },
		{ "_ZN4shop4growIiEEPT_m", "shop::grow<int>(unsigned long)" },
		{ "_ZNK4shop5Shelf3putEs", "shop::Shelf::put(short) const" },
		{ "_D4shop4growFiZv", "shop.grow(int)" },
		{ "plain_name", "plain_name" },
		{ "_Znot_mangled", "_Znot_mangled" },
	};
	struct fixture fixture;
	uint32_t module;
	char source[256];
	size_t i;

	(void)state;
	fixture_begin(&fixture, NULL);
	fixture_run(&fixture, ": >mangled.c");
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		snprintf(source, sizeof(source),
			 "int f%zu(int n) __asm__(\"%s\"); int f%zu(int n) { return n; }", i,
			 pairs[i].symbol, i);
		fixture_run(&fixture, "echo '%s' >>mangled.c", source);
	}
	fixture_run(&fixture, "gcc -shared -fPIC mangled.c -o mangled");
	module = fixture_module(&fixture, "mangled");
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct symbol_list *names =
			fixture_lookup_symbol(&fixture, module, "mangled", pairs[i].symbol);

		assert_int_equal(names->count, 1);
		assert_string_equal(names->items[0].function, pairs[i].name);
		assert_null(names->items[0].file);
	}
	fixture_end(&fixture);
}

/* Sizes in the symbol table say what a name covers; nothing else may get it. */
static void test_symbols_cover(void **state)
{
	static const char source[] =
		".text\n"
		".globl sized\n.type sized, @function\nsized: .skip 16, 0x90\n"
		".size sized, 16\n.skip 16, 0x90\n"
		".type bare, @function\nbare: .skip 16, 0x90\n"
		".globl weaker\n.weak weaker\n.type weaker, @function\nweaker:\n"
		".globl __stronger\n.type __stronger, @function\n__stronger:\n"
		".globl stronger\n.type stronger, @function\nstronger: .skip 16, 0x90\n"
		".size stronger, 16\n.size __stronger, 16\n.size weaker, 16\n"
		".skip 16, 0x90\n";
	static const struct {
		unsigned int offset; /* from `sized` */
		const char *full, *exported;
	} truth[] = {
		{ 0, "sized", "sized" },
		{ 15, "sized", "sized" },
		{ 16, NULL, NULL },
		{ 31, NULL, NULL },
		{ 32, "bare", NULL },
		{ 47, "bare", NULL },
		{ 48, "stronger", "stronger" },
		{ 63, "stronger", "stronger" },
		{ 64, NULL, NULL },
	};
	uint64_t address = 0, size = 0, offset;
	struct fixture fixture;
	uint32_t full, exported;
	size_t i;

	(void)state;
	fixture_begin(&fixture, NULL);
	fixture_write(&fixture, "code.s", source, strlen(source));
	fixture_run(&fixture, "gcc -shared -nostdlib code.s -o full && strip -o exported full");
	full = fixture_module(&fixture, "full");
	exported = fixture_module(&fixture, "exported");
	fixture_symbol(&fixture, "full", "sized", &address, &size);
	offset = fixture_offset(&fixture, "full", address);
	for (i = 0; i < sizeof(truth) / sizeof(truth[0]); i++) {
		const struct symbol_list *a =
			fixture_lookup(&fixture, full, offset + truth[i].offset);
		const struct symbol_list *b =
			fixture_lookup(&fixture, exported, offset + truth[i].offset);

		assert_string_equal(a->items[0].function ? a->items[0].function : "-",
				    truth[i].full ? truth[i].full : "-");
		assert_string_equal(b->items[0].function ? b->items[0].function : "-",
				    truth[i].exported ? truth[i].exported : "-");
	}
	fixture_end(&fixture);
}

static void test_cache(void **state)
{
	struct fixture fixture;
	const struct symbol_list *first, *second;
	uint32_t module;

	(void)state;
	fixture_begin(&fixture, NULL);
	fixture_run(&fixture, "gcc -O2 -g program.c -o program");
	module = fixture_module(&fixture, "program");
	first = fixture_lookup_symbol(&fixture, module, "program", "keep");
	assert_ptr_equal(fixture_lookup_symbol(&fixture, module, "program", "keep"), first);
	second = fixture_lookup_symbol(&fixture, fixture_module(&fixture, "program"), "program",
				       "keep");
	assert_ptr_not_equal(second, first);
	assert_string_equal(second->items[0].function, first->items[0].function);
	/* The texts of a module are kept once. */
	second = fixture_lookup_symbol(&fixture, module, "program", "exported_one");
	assert_ptr_equal(second->items[second->count - 1].file, first->items[0].file);
	fixture_end(&fixture);
}

static void assert_unnamed(const struct symbol_list *names)
{
	assert_int_equal(names->count, 1);
	assert_null(names->items[0].function);
	assert_null(names->items[0].file);
	assert_int_equal(names->items[0].line, 0);
	assert_false(names->items[0].inlined);
}

/*
 * What was looked up is known after the file is closed, and nothing else is. When the module has been removed, the one that
 * gets its index has its own names.
 */
static void test_closed_and_removed(void **state)
{
	uint64_t address = 0, size = 0, offset;
	const struct symbol_list *names;
	struct fixture fixture;
	enum log_level level;
	uint32_t module;

	(void)state;
	fixture_begin(&fixture, NULL);
	fixture_run(&fixture,
		    "gcc -g -O0 -o one program.c && gcc -g -O0 -Dkeep=hold -o two program.c");
	module = fixture_module(&fixture, "one");
	fixture_symbol(&fixture, "one", "keep", &address, &size);
	offset = fixture_offset(&fixture, "one", address + size / 2);
	assert_string_equal(fixture_lookup(&fixture, module, offset)->items[0].function, "keep");
	module_list_close(&fixture.modules, module);
	names = fixture_lookup(&fixture, module, offset);
	assert_string_equal(names->items[0].function, "keep");
	assert_true(names->items[0].line > 0);
	assert_unnamed(fixture_lookup(&fixture, module, offset - 1));
	symbolizer_forget(fixture.symbolizer, module);
	module_list_remove(&fixture.modules, module);
	assert_unnamed(fixture_lookup(&fixture, module, offset));
	symbolizer_forget(fixture.symbolizer, 12345);
	assert_int_equal(fixture_module(&fixture, "two"), module);
	fixture_symbol(&fixture, "two", "hold", &address, &size);
	offset = fixture_offset(&fixture, "two", address + size / 2);
	assert_string_equal(fixture_lookup(&fixture, module, offset)->items[0].function, "hold");
	assert_null(symbolizer_take_complaint(fixture.symbolizer, &level));
	fixture_end(&fixture);
}

static void test_nothing_to_name(void **state)
{
	struct frame frame = { .kind = FRAME_NATIVE, .module = MODULE_NONE, .address = 4096 };
	struct module *unopened = memory_alloc(1, sizeof(*unopened));
	struct fixture fixture;
	enum log_level level;
	uint32_t module;

	(void)state;
	fixture_begin(&fixture, NULL);
	assert_unnamed(symbolizer_lookup(fixture.symbolizer, &frame));
	unopened->fd = -1;
	unopened->path = memory_copy_string("[vdso]");
	module = module_list_add(&fixture.modules, unopened);
	assert_unnamed(fixture_lookup(&fixture, module, 4096));
	module = fixture_module(&fixture, "program.c");
	assert_unnamed(fixture_lookup(&fixture, module, 10));
	fixture_run(&fixture, "gcc -g -c program.c && gzip -k program.c && : >empty");
	assert_unnamed(fixture_lookup(&fixture, fixture_module(&fixture, "program.o"), 64));
	assert_unnamed(fixture_lookup(&fixture, fixture_module(&fixture, "program.c.gz"), 64));
	assert_unnamed(fixture_lookup(&fixture, fixture_module(&fixture, "empty"), 64));
	assert_unnamed(
		fixture_lookup(&fixture, fixture_module(&fixture, "program.o"), UINT64_MAX - 1));
	assert_unnamed(fixture_lookup(&fixture, 12345, 64));
	frame = (struct frame){ .kind = FRAME_KERNEL, .module = MODULE_NONE };
	assert_unnamed(symbolizer_lookup(fixture.symbolizer, &frame));
	frame = (struct frame){ .kind = FRAME_ERROR, .reason = "too deep" };
	assert_unnamed(symbolizer_lookup(fixture.symbolizer, &frame));
	assert_null(symbolizer_take_complaint(fixture.symbolizer, &level));
	fixture_end(&fixture);
}

static bool end_is_urgent;

static bool test_end(void)
{
	return end_is_urgent;
}

/* What was not looked up in time is counted, each address once; what has its name keeps it. */
static void test_end_is_urgent(void **state)
{
	const struct symbolizer_options options = { .is_over = test_end };
	struct fixture fixture;
	enum log_level level;
	char *complaint;
	uint32_t module;

	(void)state;
	fixture_begin(&fixture, &options);
	fixture_run(&fixture, "gcc -g -o program program.c");
	module = fixture_module(&fixture, "program");
	end_is_urgent = false;
	assert_unnamed(fixture_lookup(&fixture, module, 1));
	end_is_urgent = true;
	assert_unnamed(fixture_lookup(&fixture, module, 1));
	assert_unnamed(fixture_lookup(&fixture, module, 4200));
	assert_unnamed(fixture_lookup(&fixture, module, 4200));
	assert_unnamed(fixture_lookup(&fixture, module, 4300));
	complaint = symbolizer_take_complaint(fixture.symbolizer, &level);
	assert_string_equal(complaint, "2 addresses are without a name: the tracer had to end "
				       "before all were looked up");
	assert_int_equal(level, LOG_NOTICE);
	free(complaint);
	assert_null(symbolizer_take_complaint(fixture.symbolizer, &level));
	end_is_urgent = false;
	fixture_end(&fixture);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_address),	     cmocka_unit_test(test_clang),
		cmocka_unit_test(test_deleted_and_replaced), cmocka_unit_test(test_mangled_symbols),
		cmocka_unit_test(test_symbols_cover),	     cmocka_unit_test(test_cache),
		cmocka_unit_test(test_closed_and_removed),   cmocka_unit_test(test_nothing_to_name),
		cmocka_unit_test(test_end_is_urgent),
	};

	(void)argc;
	fork_server_main(argv, worker_run);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
