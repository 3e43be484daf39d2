/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sound file that the input changes: each four bytes of it are a place in the file (24 bits) and the byte to put there; a
 * place of 0xffffff cuts the file off instead.
 */
#ifndef TESTS_FUZZ_CHANGED_FILE_H
#define TESTS_FUZZ_CHANGED_FILE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buffer.h"
#include "fuzz.h"

static struct buffer changed_original;

/* Take what a library is that is compiled with these options. */
static inline void changed_file_compile(const char *options)
{
	char command[512];
	unsigned char bytes[4096];
	size_t length;
	FILE *file;

	snprintf(command, sizeof(command),
		 "file=$(mktemp) && g++ -O2 -shared -fPIC %s tests/data/symbolizer/program.cc "
		 "-o $file && cat $file && rm $file",
		 options);
	file = popen(command, "r");
	MUST(file);
	while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0)
		buffer_append(&changed_original, bytes, length);
	MUST(!pclose(file) && changed_original.length);
}

/* The changed file in a new descriptor. */
static inline int changed_file_write(const uint8_t *data, size_t size, size_t *ret_length)
{
	size_t length = changed_original.length;
	char *copy = fuzz_copy(changed_original.data, length);
	int fd;

	for (; size >= 4; data += 4, size -= 4) {
		size_t place = (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;

		if (place == 0xffffff)
			length = length * data[3] / 256;
		else
			copy[place % changed_original.length] = (char)data[3];
	}
	fd = memfd_create("changed", MFD_CLOEXEC);
	MUST(fd >= 0 && write(fd, copy, length) == (ssize_t)length);
	free(copy);
	*ret_length = length;
	return fd;
}

#endif
