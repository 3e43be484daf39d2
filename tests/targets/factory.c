/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Like a program that compiles and loads code: `factory PART FOLDER BATCH stay|move [wait]` makes copies of the library PART,
 * each a file of its own with another function name in it. It opens BATCH of them, says the number of the last one, waits for
 * a line, lets each work, closes and deletes them, and goes on with the next BATCH, until the line says "end". With "move" no two
 * of them are ever mapped at the same address.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "truth.h"

#define NAME "site_part_000000"
#define DIGITS 6
#define GRAIN 4096
#define BATCH_MAX 64

struct part {
	char *bytes;
	size_t size;
};

static void part_read(struct part *part, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		abort();
	part->size = (size_t)status.st_size;
	part->bytes = malloc(part->size);
	if (read(fd, part->bytes, part->size) != (ssize_t)part->size)
		abort();
	close(fd);
}

static void part_number(struct part *part, int number)
{
	size_t prefix = strlen(NAME) - DIGITS;
	char digits[16], *at = part->bytes;

	snprintf(digits, sizeof(digits), "%06d", number);
	while ((at = memmem(at, (size_t)(part->bytes + part->size - at), NAME, prefix))) {
		memcpy(at + prefix, digits, DIGITS);
		at += prefix;
	}
}

/* Without the gap, which would only cost time. */
static void part_write(const struct part *part, const char *path)
{
	static const char empty[GRAIN];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
	size_t at;

	if (fd < 0 || ftruncate(fd, (off_t)part->size))
		abort();
	for (at = 0; at < part->size; at += GRAIN) {
		size_t size = part->size - at < GRAIN ? part->size - at : GRAIN;

		if (memcmp(part->bytes + at, empty, size) != 0 &&
		    pwrite(fd, part->bytes + at, size, (off_t)at) != (ssize_t)size)
			abort();
	}
	close(fd);
}

struct product {
	char path[4096];
	void *library;
};

static void product_open(struct product *product, struct part *part, const char *folder, int number)
{
	snprintf(product->path, sizeof(product->path), "%s/%06d.so", folder, number);
	part_number(part, number);
	part_write(part, product->path);
	product->library = dlopen(product->path, RTLD_NOW);
	if (!product->library)
		abort();
}

static void product_use(struct product *product, int moves)
{
	void (*work)(void) = (void (*)(void))dlsym(product->library, "part_work");

	work();
	dlclose(product->library);
	if (moves)
		mmap((void *)((size_t)work & ~(size_t)(GRAIN - 1)), GRAIN, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	unlink(product->path);
}

int main(int argc, char **argv)
{
	static struct product products[BATCH_MAX];
	int i, batch, number = 0;
	struct part part;
	char line[64];

	if (argc < 5)
		return 2;
	part_read(&part, argv[1]);
	batch = atoi(argv[3]);
	truth_begin(argv[argc - 1]);
	do {
		for (i = 0; i < batch; i++)
			product_open(&products[i], &part, argv[2], number++);
		printf("%d\n", number - 1);
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			break;
		for (i = 0; i < batch; i++)
			product_use(&products[i], !strcmp(argv[4], "move"));
	} while (strcmp(line, "end\n") != 0);
	truth_end();
	return 0;
}
