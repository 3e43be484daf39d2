/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps libraries, as many as can be, up to a number, and waits for its stdin to end: `libraries COUNT FILE...`. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, mapped = 0, i;
	char byte;

	for (i = 2; i < argc && mapped < count; i++)
		if (dlopen(argv[i], RTLD_LAZY | RTLD_LOCAL))
			mapped++;
	printf("%d\n", mapped);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return 0;
}
