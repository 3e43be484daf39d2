/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What user/objects finds in a live Ruby, raw, as JSON:
 *
 *	ruby_objects PID [census COUNT SECONDS | steps COUNT | wait SECONDS | layouts]
 *
 * steps: each census but the first one begins when a line is read. NO_HOLDERS in the environment: only counts. layouts: for each version's layout whether it passes its checks on this process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/image.h"
#include "objects/exports.h"
#include "ruby/ruby_heap.h"
#include "ruby/ruby_objects.h"

static void print_numbers(const char *name, const uint64_t *numbers, size_t count)
{
	size_t i;

	printf("\"%s\": [", name);
	for (i = 0; i < count; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)numbers[i]);
	printf("], ");
}

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '\n') {
			printf("\\n");
			continue;
		}
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void print_runtime(const struct memory_runtime *runtime)
{
	size_t i, j;

	printf("\"version\": \"%s\", \"after_major\": %d, \"minor\": %llu, \"major\": %llu, "
	       "\"ns\": %lld, ",
	       runtime->version, runtime->after_major, (unsigned long long)runtime->minor_gcs,
	       (unsigned long long)runtime->major_gcs, (long long)runtime->gc_ns);
	printf("\"remarks\": ");
	print_text(runtime->remarks.data ? runtime->remarks.data : "");
	printf(", \"classes\": {");
	for (i = 0; i < runtime->class_count; i++) {
		const struct memory_class *class = &runtime->classes[i];

		printf("%s\n", i ? "," : "");
		print_text(class->name);
		printf(": {\"live\": %llu, \"newborn\": %llu, \"garbage\": %llu, \"old\": %llu, "
		       "\"slot_bytes\": %llu, "
		       "\"other_bytes\": %llu, \"retained\": %llu, \"holders\": [",
		       (unsigned long long)class->live, (unsigned long long)class->newborn,
		       (unsigned long long)class->garbage, (unsigned long long)class->old,
		       (unsigned long long)class->slot_bytes,
		       (unsigned long long)class->other_bytes, (unsigned long long)class->retained);
		for (j = 0; j < class->holder_count; j++) {
			printf("%s", j ? ", " : "");
			print_text(class->holders[j]);
		}
		printf("]}");
	}
	printf("}");
}

static void print_census(const struct image *image, const struct ruby_counts *counts,
			 const struct memory_runtime *runtime, uint64_t cpu_ns)
{
	printf("{\"pages\": %llu, \"lost\": %llu, \"page_bytes\": %llu, \"sparse\": %llu, "
	       "\"slots\": %llu, "
	       "\"free\": %llu, \"missing\": %llu, \"marking\": %d, \"cpu_ms\": %.1f, \"read\": "
	       "%llu, \"reads\": %llu, ",
	       (unsigned long long)counts->pages, (unsigned long long)counts->lost_pages,
	       (unsigned long long)counts->page_bytes, (unsigned long long)counts->sparse_pages,
	       (unsigned long long)counts->slots, (unsigned long long)counts->free_slots,
	       (unsigned long long)counts->missing_slots, counts->marking, (double)cpu_ns / 1e6,
	       (unsigned long long)image->usage.bytes, (unsigned long long)image->usage.reads);
	print_numbers("types", counts->types, RUBY_TYPES);
	print_numbers("internal", counts->internal, 16);
	print_numbers("states", counts->states, RUBY_MISSING + 1);
	print_runtime(runtime);
	printf("}\n");
}

/* Time to the next census, or, if `gap` is below zero, until a line is read. */
static void pause_for(double gap)
{
	int byte;

	if (gap >= 0)
		usleep((useconds_t)(gap * 1e6));
	else
		while ((byte = getchar()) != EOF && byte != '\n')
			;
}

static int take_census(struct image *image, uint64_t wait_ns, int count, double gap)
{
	struct ruby_keep *keep = count > 1 ? ruby_keep_new() : NULL;
	const struct ruby_objects_wanted wanted = { .keep = keep,
						    .wait_ns = wait_ns,
						    .classes = true,
						    .holders = !getenv("NO_HOLDERS"),
						    .samples = true,
						    .max_bytes = 1ull << 30 };
	struct ruby_objects *objects;
	struct error error = { 0 };
	int code = ruby_objects_open(image, &objects, &error), i;

	if (code) {
		printf("{\"error\": \"%s\", \"code\": %d}\n", error.text, code);
		return 1;
	}
	for (i = 0; i < count && !code; i++) {
		struct memory_runtime runtime = { 0 };
		struct strings names = { 0 };
		struct ruby_counts counts;
		uint64_t begun;

		if (i) {
			pause_for(gap);
			image_refresh(image);
		}
		begun = clock_thread_ns();
		code = ruby_objects_census(objects, &wanted, &names, &runtime, &counts);
		if (!code)
			print_census(image, &counts, &runtime, clock_thread_ns() - begun);
		fflush(stdout);
		memory_runtime_free(&runtime);
		strings_free(&names);
	}
	ruby_objects_free(objects);
	ruby_keep_free(keep);
	return code != 0;
}

static int try_layouts(struct image *image)
{
	struct ruby_exports exports = { exports_find(image, "rb_cObject"),
					exports_find(image, "ruby_current_vm_ptr") };
	size_t i;

	printf("[");
	for (i = 0; ruby_release_with_heap(i); i++) {
		const struct ruby_release *layout = ruby_release_with_heap(i);
		struct ruby_heap heap = { 0 };
		struct error error = { 0 };

		if (!ruby_heap_find_as(image, layout, &exports, &heap, &error)) {
			printf("\"%u.%u\"", layout->major, layout->minor);
			ruby_heap_free(&heap);
		} else {
			printf("\"\"");
		}
		printf(ruby_release_with_heap(i + 1) ? ", " : "]\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct error error = { 0 };
	struct image *image;
	int status;

	if (argc < 2)
		return 2;
	if (image_open(atoi(argv[1]), 0, &image, &error)) {
		printf("{\"error\": \"%s\"}\n", error.text);
		return 1;
	}
	if (argc > 2 && !strcmp(argv[2], "layouts"))
		status = try_layouts(image);
	else if (argc > 4 && !strcmp(argv[2], "census"))
		status = take_census(image, 0, atoi(argv[3]), atof(argv[4]));
	else if (argc > 3 && !strcmp(argv[2], "steps"))
		status = take_census(image, 0, atoi(argv[3]), -1);
	else
		status = take_census(image, argc > 3 ? (uint64_t)(atof(argv[3]) * 1e9) : 0, 1, 0);
	image_free(image);
	return status;
}
